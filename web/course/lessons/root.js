// Why scores are divided by the root of the width: random queries and keys that grow wider.
import { make } from '../../lib/dom.js';
import { rootWords } from '../../words/lessons/root.js';
import * as draw from '../draw.js';
import * as math from '../math.js';

const KEYS = 8,
  PAIRS = 400;
export default {
  id: 'root',
  formula: 'Var(q·k) = d      Var(q·k / √d) = 1',
  words: rootWords,
  draw({ w }) {
    let width = 64;
    let seed = 7;
    const raw = make('div', {});
    const scaled = make('div', {});
    const table = make('div', {});
    function compute() {
      const normal = math.normals(seed);
      const vector = () => Array.from({ length: width }, normal);
      const q = vector();
      const keys = Array.from({ length: KEYS }, vector);
      const lists = ['dot', 'scaled-dot'].map((kind) => math.attend(kind, q, keys, keys).weights);
      [raw, scaled].forEach((host, n) =>
        draw.bars(
          host,
          lists[n].map((value, i) => ({ name: w.key(i + 1), value, text: draw.number(value, 3) })),
        ),
      );
      const scores = Array.from({ length: PAIRS }, () => math.dot(vector(), vector()));
      const deviation = math.deviation(scores);
      const slope = (list) => list.reduce((sum, x) => sum + x * (1 - x), 0);
      table.replaceChildren(
        make(
          'table',
          { class: 'facts' },
          make('caption', {}, w.measure(PAIRS)),
          make(
            'thead',
            {},
            make(
              'tr',
              {},
              make('td', {}),
              make('th', { scope: 'col' }, w.without),
              make('th', { scope: 'col' }, w.with),
            ),
          ),
          make(
            'tbody',
            {},
            make(
              'tr',
              {},
              make('th', { scope: 'row' }, w.deviation),
              make('td', {}, draw.number(deviation)),
              make('td', {}, draw.number(deviation / Math.sqrt(width))),
            ),
            make(
              'tr',
              {},
              make('th', { scope: 'row' }, w.slope),
              ...lists.map((list) => make('td', {}, draw.number(slope(list), 3))),
            ),
          ),
        ),
      );
    }
    const slider = draw.slider({
      name: w.width,
      min: 0,
      max: 9,
      step: 1,
      value: 6,
      show: (v) => String(2 ** v),
      oninput: (v) => {
        width = 2 ** v;
        compute();
      },
    });
    compute();
    return make(
      'div',
      {},
      make(
        'div',
        { class: 'controls' },
        slider.element,
        make(
          'button',
          {
            type: 'button',
            class: 'small',
            onclick: () => {
              seed += 1;
              compute();
            },
          },
          w.seed,
        ),
      ),
      make('div', { class: 'two' }, draw.box(w.raw, raw), draw.box(w.scaled, scaled)),
      table,
    );
  },
};
