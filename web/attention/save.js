// Saves what is shown: the heat map as SVG or PNG, the numbers as JSON.
import { colourScale, textColourOn } from '../lib/colour.js';
import { make } from '../lib/dom.js';
import { attentionWords } from '../words/attention.js';
import { layoutMap, mapPixels, paintMap } from './map_layout.js';
import { denseWeights, gridRow, isCopied, toGrid } from './weights.js';

const escape = (text) =>
  text.replace(
    /[&<>"\u0000-\u0008\u000b\u000c\u000e-\u001f]/g,
    (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[c] || '\ufffd',
  );
const ROOM = 900;
const MOST = 20000; // cells of an SVG drawn one by one; more are a picture inside it

const round = (x) => String(Math.round(x * 100) / 100);
const hex = ([r, g, b]) => '#' + ((1 << 24) | (r << 16) | (g << 8) | b).toString(16).slice(1);
// Markup of an element; numbers have two decimals, content is markup.
function tag(name, attributes, content = '') {
  const text = (value) => escape(typeof value === 'number' ? round(value) : value);
  const list = Object.entries(attributes).filter(([, value]) => value !== undefined);
  return `<${name}${list.map(([key, value]) => ` ${key}="${text(value)}"`).join('')}>${content}</${name}>`;
}

// Each cell as a square, large ones with their number.
function cellsSvg(weights, { cell, left, top, size, S, T }) {
  const scale = colourScale('cool', 'light');
  const parts = [];
  for (let t = 0; t < T; ++t) {
    for (let s = 0; s < S; ++s) {
      const w = weights.values[t * S + s];
      const fill = scale[Math.round(Math.max(0, Math.min(1, w)) * 255)];
      const [x, y] = [left + s * cell, top + t * cell];
      parts.push(tag('rect', { x, y, width: cell - 1, height: cell - 1, fill: hex(fill) }));
      if (cell < 24 || w < 0.05) continue;
      const at = { x: x + 0.5 * cell - 0.5, y: y + 0.5 * cell, dy: '.35em', 'font-size': size * 0.78 };
      parts.push(tag('text', { ...at, 'text-anchor': 'middle', fill: textColourOn(fill) }, Math.round(w * 100)));
    }
  }
  return parts;
}
// The same as one image, a pixel for each cell.
function imageSvg(weights, { cell, left, top, S, T }) {
  const place = { x: left, y: top, width: cell * S, height: cell * T, preserveAspectRatio: 'none' };
  const href = mapPixels(weights, 'light').toDataURL();
  return [tag('image', { ...place, style: 'image-rendering:pixelated', href })];
}
function namesSvg(picture, { source, target, cell, left, top, leans }) {
  const rows = target.map((name, t) => {
    const fill = isCopied(picture, t) ? '#b65829' : undefined;
    const y = top + cell * (t + 0.5);
    return tag('text', { x: left - 8, y, dy: '.35em', 'text-anchor': 'end', fill }, escape(name));
  });
  const columns = source.map((name, s) => {
    const [x, y] = [left + cell * (s + 0.5), top - 8];
    const transform = `translate(${round(x)} ${round(y)}) rotate(-45)`;
    const place = leans[s] ? { transform, dy: '.35em' } : { x, y, 'text-anchor': 'middle' };
    return tag('text', place, escape(name));
  });
  return [...rows, ...columns];
}

export function mapSvg(picture, weights, heading) {
  const family = "Inter, system-ui, Arial, 'Noto Sans', 'Noto Sans CJK SC', sans-serif";
  const layout = layoutMap(picture, ROOM, family, false);
  const down = heading ? 34 : 6;
  const cells = layout.S * layout.T <= MOST ? cellsSvg(weights, layout) : imageSvg(weights, layout);
  const map = [...cells, ...namesSvg(picture, layout)];
  const head = { x: 4, y: 22, 'font-size': 15, 'font-weight': 600 };
  const { width } = layout;
  const height = layout.height + down;
  const content = [
    tag('title', {}, escape(heading || attentionWords.map)),
    tag('rect', { width: '100%', height: '100%', fill: '#fff' }),
    ...(heading ? [tag('text', head, escape(heading))] : []),
    tag('g', { transform: `translate(0 ${down})` }, map.join('\n')),
  ];
  const root = { xmlns: 'http://www.w3.org/2000/svg', width, height, viewBox: `0 0 ${width} ${height}` };
  const font = { 'font-family': family, 'font-size': layout.size, fill: '#1c232b' };
  return tag('svg', { ...root, ...font }, content.join('\n')) + '\n';
}

// The whole map in the colours of the page, twice as dense as the screen where a canvas can be that large.
export function mapPng(map, room) {
  const layout = layoutMap(map.picture, room, map.layout.family, false);
  const dense = Math.min(2, 12000 / Math.max(layout.width, layout.height));
  const canvas = make('canvas', { width: Math.round(layout.width * dense), height: Math.round(layout.height * dense) });
  const paper = make('canvas', { width: canvas.width, height: canvas.height });
  const context = canvas.getContext('2d');
  context.setTransform(dense, 0, 0, dense, 0, 0);
  paintMap(context, { ...map, layout, active: null }, { x: 0, y: 0, width: layout.width, height: layout.height });
  const sheet = paper.getContext('2d');
  sheet.fillStyle = map.colours.paper;
  sheet.fillRect(0, 0, paper.width, paper.height);
  sheet.drawImage(canvas, 0, 0);
  return new Promise((done) => paper.toBlob(done, 'image/png'));
}

export function saveFile(name, content, type) {
  const url = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  const link = make('a', { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

// Rows of numbers again, four decimals.
const rows = (grid) =>
  Array.from({ length: grid.rows }, (_, t) => Array.from(gridRow(grid, t), (w) => Math.round(w * 1e4) / 1e4));
export const pictureJson = (picture) =>
  JSON.stringify({
    source: picture.source,
    target: picture.target,
    weights: rows(toGrid(denseWeights(picture))),
    ...((picture.attention || []).length
      ? {
          attention: picture.attention.map((one) => ({
            ...one,
            largest: undefined,
            weights: rows(toGrid(denseWeights(one))),
          })),
        }
      : {}),
  }) + '\n';
