// Five ways to score a query and a key, on vectors in the plane.
import { make } from '../../lib/dom.js';
import { scoresWords } from '../../words/lessons/scores.js';
import * as draw from '../draw.js';
import * as math from '../math.js';
import { dragPlane } from '../plane.js';

const FORMULAS = {
  dot: 'q·k',
  'scaled-dot': 'q·k / √d',
  general: 'qᵀ W k',
  additive: 'vᵀ tanh(W q + U k)',
  cosine: 'q·k / (|q| |k|)',
};
// A turn by so many degrees: the W of the general score.
const turn = (degrees) => {
  const a = (degrees * Math.PI) / 180;
  return [
    [Math.cos(a), -Math.sin(a)],
    [Math.sin(a), Math.cos(a)],
  ];
};
export default {
  id: 'scores',
  words: scoresWords,
  draw({ w }) {
    const vectors = [
      { name: 'q', at: [1.5, 1] },
      { name: 'k1', at: [2, 0.5] },
      { name: 'k2', at: [-0.5, 1.5] },
      { name: 'k3', at: [-1, -1] },
    ];
    const tables = make('div', {});
    let degrees = 30;
    const plane = dragPlane({
      name: w.plane,
      vectors,
      onmove: (i, at) => {
        vectors[i].at = at;
        compute();
      },
    });
    const angle = draw.slider({
      name: w.turn,
      min: -180,
      max: 180,
      step: 5,
      value: degrees,
      show: (v) => `${v}°`.replace('-', '−'),
      oninput: (v) => {
        degrees = v;
        compute();
      },
    });
    const mix = [
      [1, 0.5],
      [0.5, 1],
    ];
    function compute() {
      const [q, ...keys] = vectors.map((one) => one.at);
      const more = { general: { W: turn(degrees) }, additive: { W: mix, U: mix, v: [1, 1] } };
      const kinds = Object.keys(FORMULAS);
      const all = kinds.map((kind) => math.attend(kind, q, keys, keys, more[kind]));
      const rows = kinds.map((kind) => `${w.names[kind]}  ${FORMULAS[kind]}`);
      const columns = keys.map((_, i) => w.key(i + 1));
      tables.replaceChildren(
        draw.box(w.scores, draw.heat({ rows, columns, values: all.map((one) => one.scores), most: 6 })),
        draw.box(
          w.weights,
          draw.heat({ rows: kinds.map((kind) => w.names[kind]), columns, values: all.map((one) => one.weights) }),
        ),
      );
    }
    compute();
    return make(
      'div',
      { class: 'two' },
      make('div', {}, draw.box(w.plane, plane.element), angle.element, make('p', { class: 'aside' }, w.additive)),
      tables,
    );
  },
};
