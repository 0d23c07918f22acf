// The backward pass of one attention in numbers, and steps against the gradient.
import { make } from '../../lib/dom.js';
import { backwardWords } from '../../words/lessons/backward.js';
import * as draw from '../draw.js';
import * as math from '../math.js';
import { dragPlane } from '../plane.js';

const START = {
  q: [1, 0.5],
  keys: [
    [1, 1],
    [-1, 1],
    [0.5, -1.5],
  ],
  values: [[1], [2], [-1]],
  target: 2,
};
export default {
  id: 'backward',
  formula:
    'dL/dc = c − y    dw_j = dc·v_j    ds_j = w_j (dw_j − Σ_k w_k dw_k)    dq = Σ_j ds_j k_j / √d    ' +
    'dk_j = ds_j q / √d    dv_j = w_j dc',
  words: backwardWords,
  draw({ w }) {
    const { number } = draw;
    let state = structuredClone(START);
    let rate = 0.3;
    let losses = [];
    const sums = make('output', { class: 'numbers' });
    const back = make('output', { class: 'numbers' });
    const forwardTable = make('div', {});
    const backTable = make('div', {});
    const curve = make('div', {});
    const vectors = () => [{ name: 'q', at: state.q }, ...state.keys.map((at, i) => ({ name: `k${i + 1}`, at }))];
    const plane = dragPlane({
      name: w.plane,
      vectors: vectors(),
      onmove: (i, at) => {
        if (i === 0) state.q = at;
        else state.keys[i - 1] = at;
        losses = [];
        show();
      },
    });
    const target = draw.slider({
      name: w.target,
      min: -2,
      max: 3,
      step: 0.1,
      value: state.target,
      oninput: (v) => {
        state.target = v;
        losses = [];
        show();
      },
    });
    const speed = draw.slider({
      name: w.rate,
      min: 0.05,
      max: 1,
      step: 0.05,
      value: rate,
      show: (v) => number(v, 2),
      oninput: (v) => {
        rate = v;
      },
    });
    const compute = () => {
      const run = math.attend('scaled-dot', state.q, state.keys, state.values);
      const apart = run.context[0] - state.target;
      return {
        ...run,
        apart,
        loss: 0.5 * apart * apart,
        grads: math.backward(state.q, state.keys, state.values, [apart]),
      };
    };
    function descend(count) {
      for (let i = 0; i < count; ++i) {
        const { grads } = compute();
        const less = (list, by) => list.map((x, d) => x - rate * by[d]);
        state = {
          ...state,
          q: less(state.q, grads.query),
          keys: state.keys.map((k, j) => less(k, grads.key[j])),
          values: state.values.map((v, j) => less(v, grads.value[j])),
        };
        losses.push(compute().loss);
      }
      plane.set([state.q, ...state.keys]);
      show();
    }
    function show() {
      const now = compute();
      if (losses.length === 0) losses = [now.loss];
      const columns = state.keys.map((_, i) => w.key(i + 1));
      const pair = (v) => v.map((x) => number(x)).join(', ');
      sums.textContent = w.sums(number(now.context[0], 3), number(state.target, 1), number(now.loss, 4));
      back.textContent = `${w.dc(number(now.apart, 3))}    ${w.dq(pair(now.grads.query))}`;
      const { names } = w;
      forwardTable.replaceChildren(
        draw.heat({
          rows: [names.score, names.weight, names.value],
          columns,
          values: [now.scores, now.weights, state.values.map((v) => v[0])],
          most: 2,
        }),
      );
      const row = (name, cells) =>
        make('tr', {}, make('th', { scope: 'row' }, name), ...cells.map((text) => make('td', {}, text)));
      backTable.replaceChildren(
        draw.heat({
          rows: [names.dweight, names.dscore, names.dvalue],
          columns,
          values: [now.grads.dweights, now.grads.dscores, now.grads.value.map((v) => v[0])],
          most: 2,
          digits: 3,
        }),
        make(
          'div',
          { class: 'heat-scroll' },
          make(
            'table',
            { class: 'facts' },
            make(
              'tbody',
              {},
              row(
                names.dkey,
                now.grads.key.map((v) => `(${pair(v)})`),
              ),
            ),
          ),
        ),
      );
      curve.replaceChildren(
        ...(losses.length > 1
          ? [
              draw.chart({
                series: [{ name: w.loss, points: losses.map((loss, i) => [i, loss]) }],
                x: w.steps,
                y: w.loss,
              }),
            ]
          : []),
      );
    }
    const button = (text, go, cls) => make('button', { type: 'button', class: cls, onclick: go }, text);
    show();
    return make(
      'div',
      { class: 'two' },
      make(
        'div',
        {},
        draw.box(w.plane, plane.element),
        target.element,
        speed.element,
        make(
          'div',
          { class: 'controls' },
          button(w.step, () => descend(1), 'primary step-one'),
          button(w.ten, () => descend(10), 'step-ten'),
          button(
            w.reset,
            () => {
              state = structuredClone(START);
              losses = [];
              target.set(state.target);
              plane.set([state.q, ...state.keys]);
              show();
            },
            'reset',
          ),
        ),
      ),
      make('div', {}, draw.box(w.forward, sums, forwardTable), draw.box(w.back, back, backTable), curve),
    );
  },
};
