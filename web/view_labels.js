// The page of `fovea view --html` for a classifier's lines: each text with its labels, shaded by what decided.
(function () {
  'use strict';
  const { make } = Fovea;
  const host = document.getElementById('texts');
  const pictures = Fovea.data('pictures');
  Fovea.onLanguage(() => host.replaceChildren(...pictures.map((picture, number) => {
    const labels = picture.labels || [];
    const record = {
      tokens: picture.source, attention: (picture.weights || [])[0] || [],
      saliency: Object.fromEntries(labels.filter((one) => one.saliency).map((one) => [one.label, one.saliency])),
    };
    const bars = make('div', { class: 'labels', role: 'group', 'aria-label': Fovea.words.labels });
    const rows = make('div', {});
    const show = (label) => {
      bars.replaceChildren(...Fovea.labelBars(labels, label, show));
      rows.replaceChildren(...Fovea.decided(record, label));
    };
    if (labels.length) show(labels[0].label);
    return make('section', { class: 'card text-card' }, make('h2', {}, `${number + 1}`), make('div', { class: 'text-columns' }, rows, bars));
  })));
  Fovea.pageTools();
})();
