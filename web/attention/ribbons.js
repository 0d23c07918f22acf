// The ribbons between two rows of tokens.
import { shape } from '../lib/dom.js';

export const LEAST = 0.02; // smaller weights are not lit
const FAINT = 0.04; // smaller weights have no faint ribbon
const FAINT_HEAD = 0.1; // the same where every head has its ribbons
const MOST = 2500; // pairs of tokens up to which faint ribbons are drawn
const APART = 2.2; // pixels between the ribbons of two heads

const isActive = (active, t, s) => {
  if (!active) return false;
  if (active.side === 'target') return active.i === t;
  return active.side === 'source' ? active.i === s : active.t === t && active.s === s;
};

// The pairs of an active token or cell.
function activePairs(active, rows, columns) {
  if (!active) return [];
  if (active.side === 'target') return Array.from({ length: columns }, (_, s) => [active.i, s]);
  if (active.side === 'source') return Array.from({ length: rows }, (_, t) => [t, active.i]);
  return [[active.t, active.s]];
}

// Draws into `lines`: from, to are the ends of the ribbons; heads is a list of { weights, colour }, colour null for
// the mean; faint: also the ribbons of tokens that are not active.
export function drawRibbons(lines, { from, to, heads, active, faint }) {
  const draw = (t, s, strong) => {
    heads.forEach(({ weights, colour }, i) => {
      const w = weights.values[t * weights.columns + s];
      if (w < (strong ? LEAST : colour ? FAINT_HEAD : FAINT)) return;
      // Side by side, so that no head hides another.
      const aside = (i - (heads.length - 1) / 2) * APART;
      const [a, b] = [from[s], to[t]];
      const [x0, x1] = [a.x + aside, b.x + aside];
      const bend = (b.y - a.y) * 0.45;
      const ribbon = shape('path', {
        d: `M${x0} ${a.y}C${x0} ${a.y + bend} ${x1} ${b.y - bend} ${x1} ${b.y}`,
        'stroke-width': strong ? 1 + 4.5 * w : 0.8 + 3.2 * w,
        'stroke-opacity': strong ? 0.15 + 0.85 * w : active ? 0.05 : 0.06 + 0.6 * w * w,
      });
      if (colour) ribbon.style.stroke = colour;
      lines.append(ribbon);
    });
  };
  if (faint && from.length * to.length <= MOST) {
    to.forEach((_, t) => {
      from.forEach((__, s) => {
        if (!isActive(active, t, s)) draw(t, s, false);
      });
    });
  }
  for (const [t, s] of activePairs(active, to.length, from.length)) draw(t, s, true);
}
