// A readout on every .chart: the values nearest to the pointer.
import { shape } from '../lib/dom.js';

for (const figure of document.querySelectorAll('.chart')) {
  const svg = figure.querySelector('svg');
  const data = figure.querySelector('script');
  if (!svg || !data) continue;
  const { width, height } = svg.viewBox.baseVal;
  const series = JSON.parse(data.textContent);
  const cursor = svg.querySelector('.cursor');
  svg.addEventListener('pointermove', (event) => {
    const box = svg.getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * width;
    cursor.replaceChildren();
    const nearest = series.map((points) =>
      points.reduce((best, p) => (!best || Math.abs(p[0] - x) < Math.abs(best[0] - x) ? p : best), null),
    );
    const at = nearest.find((p) => p);
    if (!at) return;
    cursor.append(shape('path', { d: `M${at[0]} 10V${height - 36}` }));
    const right = at[0] > width * 0.7;
    // From top to bottom, so that labels of neighbours can make room for each other.
    let free = 0;
    const order = nearest
      .map((p, i) => [p, i])
      .filter(([p]) => p)
      .sort((a, b) => a[0][1] - b[0][1]);
    for (const [p, i] of order) {
      const group = shape('g', { class: 's' + (i % 6) });
      const y = Math.max(p[1] - 7, free);
      free = y + 14;
      group.append(shape('circle', { cx: p[0], cy: p[1], r: 4 }));
      group.append(shape('text', { x: at[0] + (right ? -9 : 9), y, 'text-anchor': right ? 'end' : 'start' }, p[3]));
      cursor.append(group);
    }
    cursor.append(
      shape('text', { x: at[0] + (right ? -9 : 9), y: height - 41, 'text-anchor': right ? 'end' : 'start' }, at[2]),
    );
  });
  svg.addEventListener('pointerleave', () => cursor.replaceChildren());
}
