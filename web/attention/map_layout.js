// Draws the heat map on any canvas. The axes show the tokens and stay visible while a large map scrolls. Only the
// visible part is drawn, so that 500 tokens cost no more than 50.
import { colourScale, textColourOn, weightColour } from '../lib/colour.js';
import { currentTheme } from '../lib/theme.js';
import { attentionShares, isCopied, isSpecial, tokenNames } from './weights.js';

const SMALL = 15; // the least cell whose tokens can be read
const LARGE = 36;
const ENOUGH = 24; // a cell that shows its number
export const MAP_HEIGHT = 620; // of a map that need not scroll

// Names too long for an axis, cut.
const cut = (text) => ([...text].length > 18 ? [...text].slice(0, 17).join('') + '…' : text);
const quill = document.createElement('canvas').getContext('2d');
const widths = (names, font) => {
  quill.font = font;
  return names.map((name) => quill.measureText(name).width);
};

// The layout for a width of `room`: the cell size, the space for the axes, which source names lean.
export function layoutMap(picture, room, family, whole) {
  const source = tokenNames(picture.source).map(cut);
  const target = tokenNames(picture.target).map(cut);
  const S = source.length;
  const T = target.length;
  const longest = (size) => Math.min(Math.max(0, ...widths(target, `${size}px ${family}`)), room * 0.34) + 12;
  const least = whole ? 1 : SMALL;
  const cellFor = (left) =>
    Math.max(least, Math.min(LARGE, (room - left - 10) / S, whole ? 560 / T : Math.max(ENOUGH, (MAP_HEIGHT - 90) / T)));
  const size = Math.max(9.5, Math.min(14, cellFor(longest(14)) * 0.62));
  let left = longest(size);
  let cell = cellFor(left);
  const named = cell >= 11;
  if (!named) {
    left = 4;
    cell = cellFor(left);
  }
  const font = `${size}px ${family}`;
  const wide = widths(source, font);
  // All names lean, unless nearly all are short: then only the long ones do.
  const lean = () => {
    const short = wide.filter((w) => w <= cell * 0.92).length;
    // The end of the sentence may be a little wider than its column, if it does not overlap the name before it.
    const tight = (s) => (s > 0 && (wide[s - 1] + wide[s]) / 2 > cell - 5) || !isSpecial(picture.source[s]);
    return wide.map((w, s) => short < S * 0.8 || w > cell * (tight(s) ? 0.92 : 1.15));
  };
  const beyond = () => Math.max(10, ...wide.map((w, s) => (leans[s] ? w * 0.71 - (S - s - 0.5) * cell + 8 : 0)));
  let leans = lean();
  for (let again = 0; named && again < 3; ++again) {
    // names that lean out of the map need some of its width
    const over = left + cell * S + beyond() - room;
    if (over <= 0 || cell <= least) break;
    cell = Math.max(least, cell - over / S);
    leans = lean();
  }
  const top = !named
    ? 4
    : !leans.includes(true)
      ? size + 12
      : Math.max(...wide.map((w, s) => (leans[s] ? w * 0.71 : 0))) + size + 4;
  return {
    source,
    target,
    S,
    T,
    cell,
    left,
    top,
    size,
    font,
    family,
    named,
    leans,
    width: Math.ceil(left + cell * S + (named ? beyond() : 4) - 0.01),
    height: Math.ceil(top + cell * T + 4),
  };
}

// One pixel per weight.
export function mapPixels(weights, theme) {
  const scale = colourScale('cool', theme || currentTheme());
  const pixels = new ImageData(weights.columns, weights.rows);
  const words = new Uint32Array(pixels.data.buffer);
  const packed = scale.map(([r, g, b]) => (255 << 24) | (b << 16) | (g << 8) | r);
  for (let i = 0; i < words.length; ++i)
    words[i] = packed[Math.round(Math.max(0, Math.min(1, weights.values[i])) * 255)];
  const canvas = document.createElement('canvas');
  canvas.width = weights.columns;
  canvas.height = weights.rows;
  canvas.getContext('2d').putImageData(pixels, 0, 0);
  return canvas;
}

// Paints the part of the map that a view of width by height, scrolled to (x, y), shows.
export function paintMap(context, map, view) {
  const { layout, pixels, weights, colours, active } = map;
  const { cell, left, top, S, T, size } = layout;
  const { x, y, width, height } = view;
  const s0 = Math.max(0, Math.floor(x / cell));
  const s1 = Math.min(S, Math.ceil((x + width - left) / cell));
  const t0 = Math.max(0, Math.floor(y / cell));
  const t1 = Math.min(T, Math.ceil((y + height - top) / cell));
  const row = active ? (active.side === 'target' ? active.i : active.t) : undefined;
  const column = active ? (active.side === 'source' ? active.i : active.s) : undefined;
  const shares = attentionShares(weights, active);
  context.clearRect(0, 0, width, height);
  context.save();
  context.beginPath();
  context.rect(left, top, Math.min(width - left, cell * S - x), Math.min(height - top, cell * T - y));
  context.clip();
  context.imageSmoothingEnabled = false;
  if (s1 > s0 && t1 > t0) {
    context.drawImage(
      pixels,
      s0,
      t0,
      s1 - s0,
      t1 - t0,
      left + s0 * cell - x,
      top + t0 * cell - y,
      (s1 - s0) * cell,
      (t1 - t0) * cell,
    );
  }
  if (cell >= 9) {
    // the paper shows between cells
    context.fillStyle = colours.paper;
    for (let s = s0; s <= s1; ++s) context.fillRect(left + s * cell - x - 0.5, top, 1, height);
    for (let t = t0; t <= t1; ++t) context.fillRect(left, top + t * cell - y - 0.5, width, 1);
  }
  if (cell >= ENOUGH) {
    context.font = `${Math.round(size * 0.78)}px ${layout.family}`;
    context.textAlign = 'center';
    context.textBaseline = 'middle';
    for (let t = t0; t < t1; ++t) {
      for (let s = s0; s < s1; ++s) {
        const w = weights.values[t * S + s];
        if (w < 0.05) continue;
        context.fillStyle = textColourOn(weightColour(w));
        context.fillText(String(Math.round(w * 100)), left + cell * (s + 0.5) - x, top + cell * (t + 0.5) - y + 0.5);
      }
    }
  }
  context.strokeStyle = colours.mark;
  context.lineWidth = 1.5;
  if (row !== undefined) context.strokeRect(left - x + 0.75, top + cell * row - y + 0.75, cell * S - 1.5, cell - 1.5);
  if (column !== undefined)
    context.strokeRect(left + cell * column - x + 0.75, top - y + 0.75, cell - 1.5, cell * T - 1.5);
  context.restore();
  if (!layout.named) return;

  // Names; when something is lit, those that take no part step back.
  const tint = (share, i, own) => {
    context.globalAlpha = !active || own || (share && share[i] >= 0.05) ? 1 : 0.38;
  };
  context.fillStyle = colours.ink;
  context.font = layout.font;
  context.save();
  context.beginPath();
  context.rect(0, top - 2, left, height);
  context.clip();
  context.textBaseline = 'middle';
  context.textAlign = 'right';
  for (let t = t0; t < t1; ++t) {
    tint(shares.target, t, t === row);
    context.fillStyle = isCopied(map.picture, t) ? colours.mark : colours.ink;
    context.fillText(layout.target[t], left - 8, top + cell * (t + 0.5) - y, left - 9);
  }
  context.restore();
  context.fillStyle = colours.ink;
  context.save();
  context.beginPath();
  context.rect(left - size, 0, width, top);
  context.clip();
  for (let s = Math.max(0, s0 - (x > 0 ? 0 : 1)); s < s1; ++s) {
    tint(shares.source, s, s === column);
    context.save();
    context.translate(left + cell * (s + 0.5) - x, top - 8);
    if (layout.leans[s]) context.rotate(-Math.PI / 4);
    context.textAlign = layout.leans[s] ? 'left' : 'center';
    context.textBaseline = layout.leans[s] ? 'middle' : 'alphabetic';
    context.fillText(layout.source[s], 0, 0);
    context.restore();
  }
  context.restore();
}
