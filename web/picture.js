// A picture with what the words of its caption attended to: large, what the word that is pointed at looked at, the rest in
// the dark; beside it the same small for every word. Used by the page of `fovea view --html` and by the server's.
(function () {
  'use strict';
  const { make } = Fovea;
  const darkest = 0.7;
  const SMALL = 132; // pixels of a small picture

  // The darkness over each region, one pixel per region: none where the weight is largest.
  function shade(weights, rows, columns) {
    const canvas = make('canvas', { width: columns, height: rows });
    const context = canvas.getContext('2d');
    const most = Math.max(...weights, 1e-9);
    weights.forEach((weight, r) => {
      context.fillStyle = `rgb(0 0 0 / ${darkest * (1 - weight / most)})`;
      context.fillRect(r % columns, Math.floor(r / columns), 1, 1);
    });
    return canvas;
  }

  // record: {target, weights, picture: {rows, columns}} as the attention record has it; image: the square that the
  // regions cover, its address or an element. Gives an element.
  Fovea.picture = function (record, image) {
    const { rows, columns } = record.picture;
    const words = Fovea.names(record.target);
    const whole = typeof image === 'string' ? make('img', { src: image, alt: Fovea.sentence(record.target) }) : image;
    const dark = make('canvas', { class: 'picture-dark', width: columns, height: rows, 'aria-hidden': 'true' });
    const frame = make('div', { class: 'picture-frame' }, whole, dark);
    const says = make('p', { class: 'picture-says', 'aria-live': 'polite' });
    const attends = record.weights.length > 0;
    const buttons = words.map((word, t) => make('button', {
      type: 'button', class: Fovea.special(record.target[t]) ? 'picture-word special' : 'picture-word', 'aria-pressed': 'false',
      onclick: () => { chosen = chosen === t ? -1 : t; show(chosen); },
      onpointerenter: () => show(t), onpointerleave: () => show(chosen),
      onfocus: () => show(t), onblur: () => show(chosen),
    }, ...(attends ? [make('canvas', { width: SMALL, height: SMALL, 'aria-hidden': 'true' })] : []), make('span', {}, word)));
    let chosen = -1;

    function show(t) {
      buttons.forEach((button, i) => button.setAttribute('aria-pressed', String(i === t)));
      const context = dark.getContext('2d');
      context.clearRect(0, 0, columns, rows);
      says.textContent = attends ? Fovea.words.pictureHint : Fovea.words.noAttention;
      if (t < 0 || !record.weights[t]) return;
      const weights = record.weights[t];
      context.drawImage(shade(weights, rows, columns), 0, 0);
      const best = weights.indexOf(Math.max(...weights));
      says.textContent = Fovea.words.wordLooked(words[t], Math.round(100 * weights[best]), Math.floor(best / columns) + 1, (best % columns) + 1);
    }
    function small() {
      buttons.forEach((button, t) => {
        const context = attends && record.weights[t] ? button.firstChild.getContext('2d') : null;
        if (!context) return;
        context.imageSmoothingQuality = 'high';
        context.drawImage(whole, 0, 0, SMALL, SMALL);
        context.drawImage(shade(record.weights[t], rows, columns), 0, 0, SMALL, SMALL);
      });
    }
    if (whole.complete === false) whole.addEventListener('load', small);
    else small();
    show(-1);
    return make('figure', { class: 'picture' }, frame,
      make('figcaption', {}, make('div', { class: 'picture-words' }, ...buttons), says));
  };
})();
