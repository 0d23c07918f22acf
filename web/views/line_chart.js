// Lines over a common x axis with a readout at the pointer: lineChart({ title, label, xLabel, series, fromZero }) is a
// figure. series: [{ name, points: [[x, y]] }], x ascending; a y of null interrupts the line.
import { make, shape } from '../lib/dom.js';

const SIZE = { width: 380, height: 240, left: 44, right: 10, top: 10, bottom: 36 };
const COLOURS = 6; // of styles/chart.css
const LEAST_SHARE = 0.2; // of the largest value: a shorter y axis would magnify noise

// Round values from at most `low` to at least `high` in steps of 1, 2 or 5 times a power of ten, about `count` of them.
export function ticks(low, high, count) {
  const around = high > low ? 0 : Math.max(Math.abs(low), 1e-6) / 2;
  const rough = (high - low + 2 * around) / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * (rough / power < 1.5 ? 1 : rough / power < 3 ? 2 : rough / power < 7 ? 5 : 10);
  const first = Math.floor((low - around) / step + 1e-9);
  const last = Math.ceil((high + around) / step - 1e-9);
  return Array.from({ length: last - first + 1 }, (_, i) => (first + i) * step);
}

// 0.25, 1.5k, 20k, 3M.
export function shortNumber(value) {
  const size = Math.abs(value);
  const digits = (number) => String(Number(number.toPrecision(4)));
  if (size < 1e-12) return '0';
  for (const [unit, name] of [
    [1e9, 'G'],
    [1e6, 'M'],
    [1e3, 'k'],
  ]) {
    const exact = size >= 1e4 || size % 100 === 0;
    if (size >= unit && exact) return digits(value / unit) + name;
  }
  return digits(value);
}

function yRange(values, fromZero) {
  let low = Math.min(...values, ...(fromZero ? [0] : []));
  let high = Math.max(...values, ...(fromZero ? [0] : []));
  const missing = LEAST_SHARE * Math.max(Math.abs(low), Math.abs(high)) - (high - low);
  if (missing > 0) {
    low -= missing / 2;
    high += missing / 2;
  }
  return [low, high];
}

const scale = (low, high, begin, end) => (value) => begin + ((value - low) / (high - low || 1)) * (end - begin);

// The axes: { across, up, x, y }, the values on them and the functions from values to places.
function axesOf(points, fromZero) {
  const xs = points.map(([x]) => x);
  const up = ticks(
    ...yRange(
      points.map(([, y]) => y),
      fromZero,
    ),
    5,
  );
  const low = Math.min(...xs);
  const high = Math.max(...xs);
  const across = ticks(low, high, 5).filter((value) => value >= low && value <= high);
  return {
    across,
    up,
    x: scale(low, high, SIZE.left, SIZE.width - SIZE.right),
    y: scale(up[0], up[up.length - 1], SIZE.height - SIZE.bottom, SIZE.top),
  };
}

function drawGrid({ across, up, x, y }, xLabel) {
  const text = (place, anchor, content) => shape('text', { ...place, 'text-anchor': anchor }, content);
  const below = SIZE.height - SIZE.bottom + 16;
  const middle = (SIZE.left + SIZE.width - SIZE.right) / 2;
  return shape(
    'g',
    { class: 'grid' },
    ...up.flatMap((value) => [
      shape('path', { d: `M${SIZE.left} ${y(value)}H${SIZE.width - SIZE.right}` }),
      text({ x: SIZE.left - 8, y: y(value) + 4 }, 'end', shortNumber(value)),
    ]),
    ...across.map((value) => text({ x: x(value), y: below }, 'middle', shortNumber(value))),
    text({ x: middle, y: SIZE.height - 3 }, 'middle', xLabel),
  );
}

function drawLine({ points }, colour, { x, y }) {
  const drawable = ([, value]) => value !== null;
  const group = shape('g', {});
  let path = '';
  points.forEach((point, i) => {
    if (!drawable(point)) return;
    const joined = i > 0 && drawable(points[i - 1]);
    const continues = i + 1 < points.length && drawable(points[i + 1]);
    const [cx, cy] = [x(point[0]).toFixed(2), y(point[1]).toFixed(2)];
    path += `${joined ? 'L' : 'M'}${cx} ${cy}`;
    if (!joined && !continues) group.append(shape('circle', { class: `dot s${colour}`, cx, cy, r: 3 })); // has no line
  });
  group.append(shape('path', { class: `line s${colour}`, d: path }));
  return group;
}

// The points that are nearest to an x of the drawing, one of each series, from top to bottom.
function nearest(series, { x, y }, at) {
  return series
    .map(({ points }, colour) => {
      const drawable = points.filter(([, value]) => value !== null);
      if (!drawable.length) return null;
      const distance = (point) => Math.abs(x(point[0]) - at);
      const [px, py] = drawable.reduce((best, point) => (distance(point) < distance(best) ? point : best));
      return { colour, cx: x(px), cy: y(py), x: px, y: py };
    })
    .filter(Boolean)
    .sort((a, b) => a.cy - b.cy);
}

function drawReadout(cursor, found) {
  cursor.replaceChildren();
  if (!found.length) return;
  const at = found[0].cx;
  const left = at > SIZE.width * 0.7;
  const place = { x: at + (left ? -9 : 9), 'text-anchor': left ? 'end' : 'start' };
  cursor.append(shape('path', { d: `M${at} ${SIZE.top}V${SIZE.height - SIZE.bottom}` }));
  let free = 0; // below the labels so far
  for (const { colour, cx, cy, y } of found) {
    const top = Math.max(cy - 7, free);
    free = top + 14;
    const circle = shape('circle', { cx, cy, r: 4 });
    cursor.append(shape('g', { class: `s${colour}` }, circle, shape('text', { ...place, y: top }, shortNumber(y))));
  }
  cursor.append(shape('text', { ...place, y: SIZE.height - SIZE.bottom - 5 }, shortNumber(found[0].x)));
}

export function lineChart({ title, label, xLabel, series, fromZero }) {
  const points = series.flatMap((one) => one.points).filter(([, y]) => y !== null);
  if (!points.length) return make('figure', { class: 'chart' }, make('figcaption', {}, title));
  const axes = axesOf(points, fromZero);
  const cursor = shape('g', { class: 'cursor' });
  const svg = shape(
    'svg',
    { viewBox: `0 0 ${SIZE.width} ${SIZE.height}`, role: 'img', 'aria-label': label },
    drawGrid(axes, xLabel),
    ...series.map((one, i) => drawLine(one, i % COLOURS, axes)),
    cursor,
  );
  svg.addEventListener('pointermove', (event) => {
    const box = svg.getBoundingClientRect();
    drawReadout(cursor, nearest(series, axes, ((event.clientX - box.left) / box.width) * SIZE.width));
  });
  svg.addEventListener('pointerleave', () => cursor.replaceChildren());
  const legend = make('ul', { class: 'legend', hidden: series.length < 2 });
  legend.append(...series.map((one, i) => make('li', { class: `s${i % COLOURS}` }, one.name)));
  return make('figure', { class: 'chart' }, make('figcaption', {}, title), svg, legend);
}
