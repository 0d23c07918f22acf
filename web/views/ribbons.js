// Ribbons without words, shown before there is a translation.
import { shape } from '../lib/dom.js';

const WIDE = 1200;
const HIGH = 220;
const SOURCE = 17;
const ORDER = [0, 1, 3, 2, 5, 4, 9, 6, 7, 8, 11, 12, 14, 16]; // words keep their order, nearly

export function ribbonArt() {
  const svg = shape('svg', { viewBox: `0 0 ${WIDE} ${HIGH}` });
  const place = (i, count) => 30 + ((i + 0.5) * (WIDE - 60)) / count;
  ORDER.forEach((s, t) => {
    for (const [away, weight] of [
      [0, 0.8],
      [-1, 0.16],
      [1, 0.22],
      [2, 0.07],
    ]) {
      if (s + away < 0 || s + away >= SOURCE) continue;
      const a = place(s + away, SOURCE);
      const b = place(t, ORDER.length);
      svg.append(
        shape('path', {
          d: `M${a} 4C${a} ${HIGH * 0.45} ${b} ${HIGH * 0.55} ${b} ${HIGH - 4}`,
          'stroke-width': 1 + 3.5 * weight,
          'stroke-opacity': 0.14 + 0.55 * weight * weight,
        }),
      );
    }
  });
  return svg;
}
