// A picture and what the words of its caption attended to: large, with dark regions where the chosen word has little
// weight; next to it a small copy for every word.
import { isSpecial, joinTokens, tokenNames } from '../attention/weights.js';
import { make } from '../lib/dom.js';
import { attentionWords } from '../words/attention.js';
import { pictureWords } from '../words/picture.js';

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
export function pictureView(record, image) {
  const { rows, columns } = record.picture;
  const words = tokenNames(record.target);
  const whole = typeof image === 'string' ? make('img', { src: image, alt: joinTokens(record.target) }) : image;
  const dark = make('canvas', { class: 'picture-dark', width: columns, height: rows, 'aria-hidden': 'true' });
  const frame = make('div', { class: 'picture-frame' }, whole, dark);
  const says = make('p', { class: 'picture-says', 'aria-live': 'polite' });
  const attends = record.weights.length > 0;
  const buttons = words.map((word, t) =>
    make(
      'button',
      {
        type: 'button',
        class: isSpecial(record.target[t]) ? 'picture-word special' : 'picture-word',
        'aria-pressed': 'false',
        onclick: () => {
          chosen = chosen === t ? -1 : t;
          show(chosen);
        },
        onpointerenter: () => show(t),
        onpointerleave: () => show(chosen),
        onfocus: () => show(t),
        onblur: () => show(chosen),
      },
      ...(attends ? [make('canvas', { width: SMALL, height: SMALL, 'aria-hidden': 'true' })] : []),
      make('span', {}, word),
    ),
  );
  let chosen = -1;

  function show(t) {
    buttons.forEach((button, i) => button.setAttribute('aria-pressed', String(i === t)));
    const context = dark.getContext('2d');
    context.clearRect(0, 0, columns, rows);
    says.textContent = attends ? pictureWords.hint : attentionWords.noAttention;
    if (t < 0 || !record.weights[t]) return;
    const weights = record.weights[t];
    context.drawImage(shade(weights, rows, columns), 0, 0);
    const best = weights.indexOf(Math.max(...weights));
    says.textContent = pictureWords.attended(
      words[t],
      Math.round(100 * weights[best]),
      Math.floor(best / columns) + 1,
      (best % columns) + 1,
    );
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
  return make(
    'figure',
    { class: 'picture' },
    frame,
    make('figcaption', {}, make('div', { class: 'picture-words' }, ...buttons), says),
  );
}
