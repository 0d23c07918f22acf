// Score, softmax, weighted sum: four scores to drag, their weights, and the mean they make of four values.
import { make } from '../../lib/dom.js';
import { softmaxWords } from '../../words/lessons/softmax.js';
import * as draw from '../draw.js';
import * as math from '../math.js';
import { dragPlane } from '../plane.js';

export default {
  id: 'softmax',
  formula: 'w_j = exp(s_j) / Σ_k exp(s_k)      c = Σ_j w_j v_j',
  words: softmaxWords,
  draw({ w }) {
    const scores = [1, 3, 0.5, 2];
    const values = [
      [-2, 1],
      [2, 1.5],
      [-1, -2],
      [1.5, -1],
    ];
    const weights = make('div', {});
    const out = make('output', { class: 'numbers' });
    const plane = dragPlane({
      name: w.values,
      vectors: [...values.map((at, i) => ({ name: w.words[i], at })), { name: 'c', at: [0, 0], fixed: true }],
      onmove: (i, at) => {
        values[i] = at;
        compute();
      },
    });
    const sliders = scores.map((value, i) =>
      draw.slider({
        name: w.score(w.words[i]),
        min: -4,
        max: 4,
        step: 0.1,
        value,
        oninput: (v) => {
          scores[i] = v;
          compute();
        },
      }),
    );
    function compute() {
      const list = math.softmax(scores);
      const context = math.weighted(list, values);
      draw.bars(
        weights,
        list.map((value, i) => ({ name: w.words[i], value, text: draw.number(value, 3) })),
      );
      plane.set([null, null, null, null, context]);
      const vector = (at) => `(${at.map((v) => draw.number(v)).join(', ')})`;
      const terms = list.map((weight, i) => `${draw.number(weight)}·${vector(values[i])}`);
      out.textContent = `c = ${terms.join(' + ')} = ${vector(context)}`;
    }
    compute();
    return make(
      'div',
      { class: 'two' },
      make('div', {}, ...sliders.map((one) => one.element), draw.box(w.weights, weights)),
      draw.box(w.values, plane.element, out),
    );
  },
};
