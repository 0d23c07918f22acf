// A recurrent decoder that attends, step by step: Bahdanau's order and Luong's.
import { make } from '../../lib/dom.js';
import { stepsWords } from '../../words/lessons/steps.js';
import * as draw from '../draw.js';

export default {
  id: 'steps',
  models: true,
  words: stepsWords,
  draw({ w, facts, ask, field }) {
    const { number, share } = draw;
    const lines = [...new Set(facts.examples.map((one) => one.text))];
    let form = 'bahdanau';
    let answer = null;
    const steps = make('div', { class: 'steps' });
    const output = make('p', { class: 'letters output-line', dir: 'ltr' });
    const caption = make('p', { class: 'aside', role: 'status' });
    const place = make('div', {});
    const text = field(w.sentence, lines[0], lines, () => look());
    const name = (token) => (token === '</s>' ? w.end : token === '<unk>' ? '?' : token);
    let at = 0;
    function look() {
      ask({ text: text.value, form }, (got) => {
        answer = got;
        at = Math.min(at, got.target.length - 1);
        const step = draw.slider({
          name: w.step,
          min: 1,
          max: got.target.length,
          step: 1,
          value: at + 1,
          show: (v) => `${v} / ${got.target.length}`,
          oninput: (v) => {
            at = v - 1;
            show();
          },
        });
        place.replaceChildren(step.element);
        show();
      });
    }
    function show() {
      const words = answer.target.map(name);
      output.replaceChildren(
        ...words.map((word, i) => make('span', { class: i === at ? 'hit now' : i < at ? 'hit' : 'later' }, word)),
      );
      caption.textContent = w.reads(at ? words[at - 1] : w.start, words[at]);
      const source = answer.source.map(name);
      const size = Math.max(...answer.scores[at].map(Math.abs), 1e-9);
      const most = Math.max(...answer.weights[at]);
      const list = (values, of, digits) =>
        draw.bars(
          make('div', {}),
          values.map((value, i) => ({
            name: source[i],
            value,
            text: number(value, digits),
            mark: answer.weights[at][i] === most,
          })),
          of,
        );
      const boxes = {
        states: [
          w.states,
          make(
            'div',
            { class: 'strips' },
            ...answer.states.map((row, i) =>
              make('div', { class: 'strip-row' }, make('span', { class: 'bar-name' }, source[i]), draw.strip(row, 1)),
            ),
          ),
        ],
        scores: [w.scores, list(answer.scores[at], size, 2)],
        weights: [w.weights, list(answer.weights[at], 1, 3)],
        context: [w.context, draw.strip(answer.context[at], 1)],
        state: [w.state, draw.strip(answer.state[at], 1)],
        next: [
          w.next,
          draw.bars(
            make('div', {}),
            answer.next[at].slice(0, 4).map((one) => ({ name: name(one.text), value: one.p, text: share(one.p) })),
          ),
        ],
      };
      const order =
        form === 'luong'
          ? ['states', 'state', 'scores', 'weights', 'context', 'next']
          : ['states', 'scores', 'weights', 'context', 'state', 'next'];
      steps.replaceChildren(...order.map((one, i) => draw.box(`${i + 1}. ${boxes[one][0]}`, boxes[one][1])));
    }
    look();
    return make(
      'div',
      {},
      make('p', { class: 'aside' }, w.right(share(facts.bahdanau), share(facts.luong))),
      draw.choice(w.form, Object.entries(w.forms), form, (one) => {
        form = one;
        look();
      }),
      text.element,
      place,
      output,
      caption,
      steps,
    );
  },
};
