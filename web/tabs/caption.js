// Captions: a picture that is dropped, pasted or chosen, and its caption; each word shows the regions that it
// attended to. The picture is cut to its middle square and made small in the browser, so that photographs of any
// size can be sent. Its address is task=caption&model=NAME, without the picture.
import { make } from '../lib/dom.js';
import { api } from '../server/api.js';
import { pictureView } from '../views/picture.js';
import { captionWords } from '../words/caption.js';
import { modelTab } from './model_tab.js';

const SIDE = 512; // pixels that are sent

// The middle square of a picture file as an upright canvas.
async function squareOf(file) {
  const bitmap = await createImageBitmap(file);
  const from = Math.min(bitmap.width, bitmap.height);
  const side = Math.min(SIDE, from);
  const canvas = make('canvas', { width: side, height: side, role: 'img' });
  const context = canvas.getContext('2d');
  context.fillStyle = '#fff';
  context.fillRect(0, 0, side, side);
  context.imageSmoothingQuality = 'high';
  context.drawImage(bitmap, (bitmap.width - from) / 2, (bitmap.height - from) / 2, from, from, 0, 0, side, side);
  return canvas;
}

function create(page) {
  let canvas = null; // the picture
  let shown = null; // the answer
  const input = make('input', {
    type: 'file',
    id: 'caption-file',
    accept: 'image/jpeg,image/png',
    class: 'visually-hidden',
  });
  const target = make(
    'label',
    { class: 'picture-drop', for: 'caption-file', tabindex: 0, role: 'button' },
    make('strong', { 'data-word': 'caption.drop' }),
    make('span', { class: 'aside', 'data-word': 'caption.choose' }),
    make('span', { class: 'again', 'data-word': 'caption.another' }),
  );
  const result = make('div', { id: 'caption-result', 'aria-live': 'polite' });
  const waiting = make('p', { class: 'waiting' });

  const { tab, element, chooser, busy, model, submit, waitingText } = modelTab(page, {
    task: 'caption',
    send: api.caption,
    answered(reply) {
      shown = reply;
      draw();
    },
    modelsChanged: redraw,
    open() {},
    address: () => ({}),
    ask,
    redraw,
  });
  const head = make('div', { class: 'pane-head' }, ...chooser, busy);
  element.append(
    make('section', { class: 'card picture-desk', 'aria-busy': 'false' }, head, input, target, result, waiting),
  );

  function ask() {
    const nothing = !canvas || !model() || page.locked();
    if (nothing) empty();
    submit(nothing ? null : request(), 0);
    page.addressChanged();
  }
  const request = () => ({
    image: canvas.toDataURL('image/jpeg', 0.92),
    model: model().name,
    attention: Boolean(model().attention),
  });
  function redraw() {
    if (shown) draw();
    else empty();
  }
  function empty() {
    shown = null;
    waiting.hidden = false;
    waiting.textContent = waitingText(captionWords.notYet, captionWords.noCaptioner);
    const frame = canvas && make('figure', { class: 'picture' }, make('div', { class: 'picture-frame' }, canvas));
    result.replaceChildren(...(frame ? [frame] : []));
  }
  function draw() {
    waiting.hidden = true;
    const record = {
      target: shown.tokens,
      weights: shown.attention || [],
      picture: { rows: shown.rows, columns: shown.columns },
    };
    result.replaceChildren(make('h2', { class: 'picture-caption' }, shown.caption), pictureView(record, canvas));
    canvas.setAttribute('aria-label', shown.caption);
  }

  async function take(file) {
    if (!file) return;
    try {
      canvas = await squareOf(file);
    } catch (unreadable) {
      page.trouble('refused', { text: captionWords.notAPicture });
      return;
    }
    if (!target.classList.contains('small')) {
      target.classList.add('small'); // out of the way
      head.append(target);
    }
    empty();
    ask();
  }
  input.addEventListener('change', () => take(input.files[0]));
  target.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' && event.key !== ' ') return;
    event.preventDefault();
    input.click();
  });
  for (const name of ['dragenter', 'dragover']) {
    element.addEventListener(name, (event) => {
      event.preventDefault();
      target.classList.add('over');
    });
  }
  for (const name of ['dragleave', 'drop']) element.addEventListener(name, () => target.classList.remove('over'));
  element.addEventListener('drop', (event) => {
    event.preventDefault();
    take(event.dataTransfer.files[0]);
  });
  document.addEventListener('paste', (event) => {
    if (!element.hidden) take([...event.clipboardData.files][0]);
  });
  return tab;
}

export const captionTab = { task: 'caption', words: captionWords, create };
