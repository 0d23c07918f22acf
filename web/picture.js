// A picture with what a word of its caption attended to laid over it: the rest lies in the dark. Used by the page of
// `fovea view --html` and by the server's.
(function () {
  'use strict';
  const darkest = 0.78;

  // record: {target, weights, picture: {rows, columns}} as the attention record has it; image: the square that the
  // regions cover, its address or an element. Gives an element.
  Fovea.picture = function (record, image) {
    const { rows, columns } = record.picture;
    const words = record.target;
    const canvas = Fovea.make('canvas', { class: 'picture-dark', width: columns, height: rows });
    const frame = Fovea.make('div', { class: 'picture-frame' },
      typeof image === 'string' ? Fovea.make('img', { src: image, alt: words.filter((word) => word !== '</s>').join(' ') }) : image, canvas);
    const says = Fovea.make('p', { class: 'picture-says', 'aria-live': 'polite' });
    const buttons = words.map((word, t) => Fovea.make('button', {
      type: 'button', class: 'picture-word', 'aria-pressed': 'false',
      onclick: () => { chosen = chosen === t ? -1 : t; show(chosen); },
      onpointerenter: () => show(t), onpointerleave: () => show(chosen),
      onfocus: () => show(t), onblur: () => show(chosen),
    }, word === '</s>' ? '⏎' : word.replace(/^▁/, '')));
    let chosen = -1;

    function show(t) {
      buttons.forEach((button, i) => button.setAttribute('aria-pressed', String(i === t)));
      const context = canvas.getContext('2d');
      context.clearRect(0, 0, columns, rows);
      says.textContent = record.weights.length ? Fovea.words.pictureHint : '';
      if (t < 0 || !record.weights[t]) return;
      const weights = record.weights[t];
      const most = Math.max(...weights, 1e-9);
      weights.forEach((weight, r) => {
        context.fillStyle = `rgb(0 0 0 / ${darkest * (1 - weight / most)})`;
        context.fillRect(r % columns, Math.floor(r / columns), 1, 1);
      });
      const best = weights.indexOf(most);
      says.textContent = Fovea.words.wordLooked(Math.round(100 * most), Math.floor(best / columns) + 1, (best % columns) + 1);
    }
    show(-1);
    return Fovea.make('figure', { class: 'picture' }, frame,
      Fovea.make('figcaption', {}, Fovea.make('div', { class: 'picture-words' }, ...buttons), says));
  };
})();
