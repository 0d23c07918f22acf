// Vectors that can be dragged: dragPlane({ name, size, vectors: [{ name, at: [x, y], fixed }], onmove }) draws
// arrows in a plane from −size to size. A vector is dragged by its tip, or moved with the arrow keys, with Shift in
// larger steps. set(list) moves all of them; onmove(i, [x, y]) is called while one moves.
import { make, shape } from '../lib/dom.js';
import { number } from './draw.js';

export function dragPlane({ name, size = 3, vectors, onmove }) {
  const half = 150,
    scale = half / size;
  const svg = shape('svg', {
    viewBox: `${-half} ${-half} ${2 * half} ${2 * half}`,
    class: 'plane',
    role: 'group',
    'aria-label': name,
  });
  for (let i = -size; i <= size; ++i)
    svg.append(
      shape('path', {
        class: i === 0 ? 'zero' : 'grid',
        d: `M${i * scale} ${-half}V${half}M${-half} ${i * scale}H${half}`,
      }),
    );
  const clamp = (v) => Math.max(-size, Math.min(size, Math.round(v * 20) / 20));
  const arrows = vectors.map((vector, i) => {
    const line = shape('path', { class: 'arrow' });
    const label = shape('text', { 'text-anchor': 'middle' }, vector.name);
    const tip = vector.fixed
      ? shape('circle', { r: 5, class: 'tip' })
      : shape('circle', {
          r: 11,
          class: 'tip drag',
          tabindex: 0,
          role: 'slider',
          'aria-valuemin': -size,
          'aria-valuemax': size,
        });
    const group = shape('g', { class: `v${i}${vector.fixed ? ' fixed' : ''}` }, line, tip, label);
    svg.append(group);
    const place = ([x, y]) => {
      line.setAttribute('d', `M0 0L${(x * scale).toFixed(1)} ${(-y * scale).toFixed(1)}`);
      tip.setAttribute('cx', x * scale);
      tip.setAttribute('cy', -y * scale);
      const length = Math.hypot(x, y) || 1;
      // Next to the tip, on the far side of the origin, but inside the picture.
      const lx = x * scale + (x / length) * 20,
        ly = -y * scale - (y / length) * 20 + 5;
      label.setAttribute('x', Math.max(-half + 12, Math.min(half - 12, lx)));
      label.setAttribute('y', Math.max(-half + 14, Math.min(half - 5, ly)));
      tip.setAttribute('aria-label', vector.name);
      tip.setAttribute('aria-valuenow', x);
      tip.setAttribute('aria-valuetext', `${number(x)}, ${number(y)}`);
    };
    const move = (to) => {
      vector.at = to.map(clamp);
      place(vector.at);
      onmove(i, vector.at);
    };
    place(vector.at);
    if (!vector.fixed) {
      const follow = (event) => {
        const frame = svg.getBoundingClientRect();
        move([
          ((event.clientX - frame.left) / frame.width - 0.5) * 2 * size,
          -((event.clientY - frame.top) / frame.height - 0.5) * 2 * size,
        ]);
      };
      tip.addEventListener('pointerdown', (event) => {
        tip.setPointerCapture(event.pointerId);
        tip.focus();
        event.preventDefault();
      });
      tip.addEventListener('pointermove', (event) => {
        if (tip.hasPointerCapture(event.pointerId)) follow(event);
      });
      tip.addEventListener('keydown', (event) => {
        const step = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
        if (!step) return;
        event.preventDefault();
        const by = event.shiftKey ? 0.5 : 0.1;
        move([vector.at[0] + step[0] * by, vector.at[1] + step[1] * by]);
      });
    }
    return { place, vector };
  });
  return {
    element: make('div', { class: 'plane-box' }, svg),
    set: (list) =>
      list.forEach((at, i) => {
        if (at) {
          arrows[i].vector.at = at;
          arrows[i].place(at);
        }
      }),
  };
}
