// Queries, keys and values of a model that has learned which word 它 (it) stands for.
import { make } from '../../lib/dom.js';
import { qkvWords } from '../../words/lessons/qkv.js';
import * as draw from '../draw.js';

// What the words mean, for readers of English.
const GLOSS = {
  看: 'look',
  小猫: 'kitten',
  小狗: 'puppy',
  鸭子: 'duck',
  兔子: 'rabbit',
  桌子: 'table',
  椅子: 'chair',
  箱子: 'box',
  沙发: 'sofa',
  它: 'it',
  好: 'so',
  可爱: 'cute',
  聪明: 'clever',
  调皮: 'naughty',
  结实: 'sturdy',
  宽大: 'roomy',
  舒服: 'comfortable',
  新鲜: 'fresh',
  香甜: 'sweet',
  美味: 'tasty',
  苹果: 'apple',
  香蕉: 'banana',
  西瓜: 'melon',
  葡萄: 'grapes',
  在: 'is',
  旁边: 'beside',
  '，': ',',
};
export default {
  id: 'qkv',
  models: true,
  formula: 'Q = X W_Q    K = X W_K    V = X W_V      A = softmax(Q Kᵀ / √d)      Z = A V',
  words: qkvWords,
  draw({ w, facts, ask, field }) {
    const { number, share } = draw;
    const lines = facts.examples.map((one) => one.text);
    let answer = null;
    let layer = 1;
    let chosen = '它';
    const words = make('div', { class: 'word-row', role: 'group', 'aria-label': w.ask });
    const boxes = make('div', { class: 'steps' });
    const text = field(w.sentence, lines[0], lines, () => look());
    const named = (word) => (w.gloss && GLOSS[word] && GLOSS[word] !== ',' ? `${word} ${GLOSS[word]}` : word);
    const look = () =>
      ask({ text: text.value }, (got) => {
        answer = got;
        show();
      });
    function show() {
      const at = Math.max(0, answer.words.indexOf(chosen));
      words.replaceChildren(
        ...answer.words.map((word, i) =>
          make(
            'button',
            {
              type: 'button',
              class: 'word',
              'aria-pressed': String(i === at),
              onclick: () => {
                chosen = word;
                show();
                words.querySelector('[aria-pressed="true"]').focus();
              },
            },
            word,
            ...(w.gloss && GLOSS[word] ? [make('small', {}, GLOSS[word])] : []),
          ),
        ),
      );
      const now = answer.layers[layer];
      const names = answer.words.map(named);
      const most = Math.max(...now.weights[at]);
      const mark = (i) => now.weights[at][i] === most;
      const size = (rows) => Math.max(1e-9, ...rows.flat().map(Math.abs));
      const strips = (rows) =>
        make(
          'div',
          { class: 'strips' },
          ...rows.map((row, i) =>
            make(
              'div',
              { class: 'strip-row' },
              make('span', { class: 'bar-name' }, names[i]),
              draw.strip(row, size(rows)),
            ),
          ),
        );
      const scores = now.scores[at];
      boxes.replaceChildren(
        draw.box(w.query(answer.words[at]), draw.strip(now.query[at], size(now.query))),
        draw.box(w.keys, strips(now.key)),
        draw.box(
          w.scores,
          draw.bars(
            make('div', {}),
            scores.map((value, i) => ({ name: names[i], value, mark: mark(i) })),
            Math.max(...scores.map(Math.abs)),
          ),
        ),
        draw.box(
          w.weights,
          draw.bars(
            make('div', {}),
            now.weights[at].map((value, i) => ({ name: names[i], value, text: number(value, 3), mark: mark(i) })),
          ),
        ),
        draw.box(w.values, strips(now.value)),
        draw.box(w.read, draw.strip(now.context[at])),
        draw.box(
          w.map,
          draw.heat({ rows: answer.words, columns: answer.words, values: now.weights, mark: (i) => i === at }),
        ),
        ...(answer.guesses
          ? [
              draw.box(
                w.means,
                draw.bars(
                  make('div', { class: 'guesses' }),
                  answer.guesses.map((one) => ({ name: named(one.text), value: one.p, text: share(one.p) })),
                ),
              ),
            ]
          : []),
      );
    }
    look();
    return make(
      'div',
      {},
      make('p', { class: 'aside' }, w.right(share(facts.right))),
      text.element,
      draw.choice(
        w.layer,
        [
          [0, w.layerName(1)],
          [1, w.layerName(2)],
        ],
        layer,
        (one) => {
          layer = one;
          show();
        },
      ),
      words,
      boxes,
    );
  },
};
