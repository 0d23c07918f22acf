// All heads at a glance: a row per layer, a column per head, a small heat map each; the first row and column are
// means. headGrid(choose) calls choose({ layer, head }) with '' for a mean.
import { make } from '../lib/dom.js';
import { currentLanguage } from '../lib/language.js';
import { onThemeChange } from '../lib/theme.js';
import { attentionWords } from '../words/attention.js';
import { headLabel } from './readout.js';
import { mapPixels } from './map_layout.js';
import { chosenWeights, headMaps } from './weights.js';

const SIDE = 64; // pixels of a small picture
let grids = 0; // on the page

const pixel = (i, pixels, all) => Math.floor((i * pixels) / all);
// The largest weight under each pixel: a thin diagonal stays visible however small it is drawn.
function shrink(weights) {
  const rows = Math.min(SIDE, weights.rows);
  const columns = Math.min(SIDE, weights.columns);
  if (rows === weights.rows && columns === weights.columns) return weights;
  const values = new Float32Array(rows * columns);
  for (let t = 0; t < weights.rows; ++t) {
    const r = pixel(t, rows, weights.rows) * columns;
    for (let s = 0; s < weights.columns; ++s) {
      const at = r + pixel(s, columns, weights.columns);
      values[at] = Math.max(values[at], weights.values[t * weights.columns + s]);
    }
  }
  return { rows, columns, values };
}
// The same of a head whose largest weights alone are listed, without its whole matrix.
function shrinkListed({ largest, keys }) {
  const all = { rows: largest.index.length, columns: keys.length };
  const rows = Math.min(SIDE, all.rows);
  const columns = Math.min(SIDE, all.columns);
  const values = new Float32Array(rows * columns);
  largest.index.forEach((list, t) =>
    list.forEach((key, n) => {
      const at = pixel(t, rows, all.rows) * columns + pixel(key, columns, all.columns);
      values[at] = Math.max(values[at], largest.weight[t][n]);
    }),
  );
  return { rows, columns, values };
}
const small = (picture, layer, head) => {
  const one =
    layer !== '' && head !== ''
      ? headMaps(picture).find((map) => map.layer === Number(layer) && map.head === Number(head))
      : null;
  return one && one.largest && one.keys ? shrinkListed(one) : shrink(chosenWeights(picture, layer, head));
};

export function headGrid(choose) {
  const id = `heads-title-${++grids}`;
  const title = make('h3', { class: 'heads-title', id });
  const table = make('div', { class: 'heads-grid', role: 'group', 'aria-labelledby': id });
  const element = make('div', { class: 'heads' }, title, table);
  let buttons = [];
  let shown = null;
  let turn = 0;

  function draw(picture) {
    const list = headMaps(picture);
    element.hidden = list.length < 2 || !picture.source.length || !picture.target.length;
    if (element.hidden) {
      shown = null;
      return;
    }
    title.textContent = attentionWords.heads;
    const layers = [...new Set(list.map((one) => one.layer))].sort((a, b) => a - b);
    const heads = [...new Set(list.map((one) => one.head))].sort((a, b) => a - b);
    const shape = JSON.stringify([layers, heads, currentLanguage()]);
    if (table.dataset.shape !== shape) {
      build(layers, heads);
      shown = null;
    }
    table.dataset.shape = shape;
    if (shown !== picture) fill(picture);
    shown = picture;
  }

  function build(layers, heads) {
    const one = (layer, head) => {
      const name = headLabel(layer, head);
      const canvas = make('canvas', { width: SIDE, height: SIDE, 'aria-hidden': 'true' });
      const edge = layer === '' || head === '';
      const button = make(
        'button',
        {
          type: 'button',
          class: edge ? 'edge' : '',
          'aria-label': name,
          title: name,
          'aria-pressed': 'false',
          'data-layer': layer,
          'data-head': head,
          onclick: () => choose({ layer: String(layer), head: String(head) }),
          onkeydown: walk,
        },
        canvas,
      );
      return button;
    };
    const columns = ['', ...heads];
    element.style.setProperty('--columns', columns.length);
    element.classList.toggle('many-heads', columns.length > 9); // smaller, to leave space for the map
    buttons = ['', ...layers].map((layer) => columns.map((head) => one(layer, head)));
    const tick = (text) => make('span', { 'aria-hidden': 'true' }, String(text));
    const short = (n) => tick(n === '' ? '⌀' : n);
    table.replaceChildren(
      tick(''),
      ...columns.map(short),
      ...buttons.flatMap((row, r) => [short(['', ...layers][r]), ...row]),
    );
    buttons.flat().forEach((button, i) => {
      button.tabIndex = i === 0 ? 0 : -1;
    });
  }

  // The arrow keys move in the grid; Tab leaves it.
  function walk(event) {
    const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
    if (!step) return;
    event.preventDefault();
    const r = buttons.findIndex((row) => row.includes(event.currentTarget));
    const c = buttons[r].indexOf(event.currentTarget);
    const to = (buttons[r + step[0]] || [])[c + step[1]];
    if (!to) return;
    event.currentTarget.tabIndex = -1;
    to.tabIndex = 0;
    to.focus();
  }

  // A few milliseconds of pictures per frame.
  function fill(picture) {
    const mine = ++turn;
    const rest = buttons.flat();
    const work = () => {
      const began = performance.now();
      while (rest.length && mine === turn && performance.now() - began < 6) {
        const button = rest.shift();
        const pixels = mapPixels(small(picture, button.dataset.layer, button.dataset.head));
        const context = button.firstChild.getContext('2d');
        context.imageSmoothingEnabled = false;
        context.clearRect(0, 0, SIDE, SIDE);
        context.drawImage(pixels, 0, 0, SIDE, SIDE);
      }
      if (rest.length && mine === turn) requestAnimationFrame(work);
    };
    work();
  }

  function mark(layer, head) {
    for (const button of buttons.flat()) {
      button.setAttribute(
        'aria-pressed',
        String(button.dataset.layer === String(layer) && button.dataset.head === String(head)),
      );
    }
  }
  onThemeChange(() => {
    if (shown) fill(shown);
  });
  return { element, draw, mark };
}
