// The heat map on the page: a canvas that stays in place while its frame scrolls; pointer and keys choose a cell.
import { cssColour, weightColour } from '../lib/colour.js';
import { make } from '../lib/dom.js';
import { attentionWords } from '../words/attention.js';
import { MAP_HEIGHT, layoutMap, mapPixels, paintMap } from './map_layout.js';
import { argmax, cellOf, formatPercent, gridRow } from './weights.js';

export function heatMap(owner) {
  const canvas = make('canvas', { tabindex: '0', role: 'img', class: 'map-canvas' });
  const space = make('div', { class: 'map-space' }, canvas);
  const scroll = make('div', { class: 'map-scroll' }, space);
  const swatch = make('i');
  const zoom = make('button', {
    type: 'button',
    class: 'small',
    onclick: () => {
      whole = !whole;
      draw(map.picture, map.weights);
    },
  });
  const foot = make(
    'div',
    { class: 'map-foot' },
    make('div', { class: 'map-legend', 'aria-hidden': 'true' }, '0', swatch, '1'),
    zoom,
  );
  const element = make('div', { class: 'map' }, scroll, foot);
  const context = canvas.getContext('2d');
  const map = { picture: null, weights: null, room: 600, layout: null, pixels: null, colours: null, active: null };
  let whole = false;
  let waiting = 0;

  function draw(picture, weights, room = map.room) {
    Object.assign(map, { picture, weights, room });
    element.hidden = !picture.source.length || !picture.target.length;
    if (element.hidden) return;
    const style = getComputedStyle(element);
    map.colours = {
      ink: style.color,
      paper: style.getPropertyValue('--card').trim() || '#fff',
      mark: style.getPropertyValue('--mark').trim(),
    };
    map.layout = layoutMap(picture, room, style.fontFamily, false);
    const { width, height } = map.layout;
    zoom.hidden = width <= room + 1 && height <= MAP_HEIGHT;
    zoom.textContent = whole ? attentionWords.readable : attentionWords.whole;
    if (whole && !zoom.hidden) map.layout = layoutMap(picture, room, style.fontFamily, true);
    map.pixels = mapPixels(weights);
    scroll.style.width = Math.min(room, map.layout.width) + 'px';
    space.style.width = map.layout.width + 'px';
    space.style.height = map.layout.height + 'px';
    const stops = [0, 0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875, 1].map((w) => cssColour(weightColour(w)));
    swatch.style.background = `linear-gradient(to right, ${stops.join(',')})`;
    const best = picture.target.slice(0, 40).map((token, t) => {
      const row = gridRow(weights, t);
      const s = argmax(row);
      return `${token} ← ${picture.source[s]} ${formatPercent(row[s])}`;
    });
    canvas.setAttribute('aria-label', attentionWords.map + ': ' + best.join('; '));
    paint();
  }

  function paint() {
    waiting = 0;
    if (!map.layout || element.hidden) return;
    const width = Math.min(map.room, map.layout.width);
    const height = Math.min(scroll.clientHeight, map.layout.height);
    const dense = window.devicePixelRatio || 1;
    if (canvas.width !== Math.round(width * dense) || canvas.height !== Math.round(height * dense)) {
      canvas.width = Math.round(width * dense);
      canvas.height = Math.round(height * dense);
      canvas.style.width = width + 'px';
      canvas.style.height = height + 'px';
    }
    context.setTransform(dense, 0, 0, dense, 0, 0);
    paintMap(context, map, { x: scroll.scrollLeft, y: scroll.scrollTop, width, height });
  }
  const soon = () => {
    if (!waiting) waiting = requestAnimationFrame(paint);
  };
  scroll.addEventListener('scroll', soon, { passive: true });

  // A large map scrolls to the active token or cell.
  function light(active) {
    map.active = active;
    if (
      active &&
      map.layout &&
      !element.matches(':hover') &&
      (map.layout.height > scroll.clientHeight || map.layout.width > scroll.clientWidth)
    ) {
      const { cell, left, top } = map.layout;
      const { t, s } = cellOf(map.weights, active);
      scroll.scrollTo(
        cell * (s + 0.5) - (scroll.clientWidth - left) / 2,
        cell * (t + 0.5) - (scroll.clientHeight - top) / 2,
      );
    }
    soon();
  }

  const cellAt = (event) => {
    const box = canvas.getBoundingClientRect();
    const { cell, left, top, S, T } = map.layout;
    const x = event.clientX - box.left;
    const y = event.clientY - box.top;
    const s = Math.floor((x - left + scroll.scrollLeft) / cell);
    const t = Math.floor((y - top + scroll.scrollTop) / cell);
    if (x >= left && y >= top) return s >= 0 && t >= 0 && s < S && t < T ? { t, s } : null;
    if (x < left && y >= top && t >= 0 && t < T) return { side: 'target', i: t }; // on a name
    if (y < top && x >= left && s >= 0 && s < S) return { side: 'source', i: s };
    return null;
  };
  const same = (a, b) => a === b || (a && b && a.t === b.t && a.s === b.s && a.side === b.side && a.i === b.i);
  canvas.addEventListener('pointermove', (event) => {
    const at = cellAt(event);
    if (!same(at, map.active)) owner.onactive(at);
  });
  canvas.addEventListener('click', (event) => owner.onpin(cellAt(event)));
  canvas.addEventListener('pointerleave', (event) => event.pointerType !== 'touch' && owner.onactive(null));
  canvas.addEventListener('blur', () => owner.onactive(null));
  canvas.addEventListener('keydown', (event) => {
    const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
    if (event.key === 'Escape') owner.onpin(null);
    if (!step) return;
    event.preventDefault();
    const inside = map.active && map.active.t !== undefined;
    const clamp = (x, n) => Math.max(0, Math.min(n - 1, x));
    owner.onpin(null);
    owner.onactive(
      inside
        ? { t: clamp(map.active.t + step[0], map.layout.T), s: clamp(map.active.s + step[1], map.layout.S) }
        : { t: 0, s: 0 },
    );
  });

  return { element, map, draw, light };
}
