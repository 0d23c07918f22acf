// Why one vector of fixed size is not enough: an RNN without and one with attention repeat lines of growing length.
import { make } from '../../lib/dom.js';
import { fixedWords } from '../../words/lessons/fixed.js';
import * as draw from '../draw.js';

export default {
  id: 'fixed',
  models: true,
  words: fixedWords,
  draw({ w, facts, ask, field }) {
    const lines = facts.examples.map((one) => one.text);
    const chart = make('div', {});
    const result = make('div', { class: 'outputs' });
    const map = make('div', {});
    const text = field(w.line, lines[4], [], (line) => look(line));
    const length = draw.slider({
      name: w.length,
      min: facts.lengths[0],
      max: facts.lengths[facts.lengths.length - 1],
      step: 1,
      value: facts.lengths[4],
      show: String,
      oninput: (n) => {
        const line = lines[facts.lengths.indexOf(n)];
        text.set(line);
        look(line);
      },
    });
    const curves = (at) =>
      chart.replaceChildren(
        draw.chart({
          series: ['plain', 'attention'].map((one) => ({
            name: w[one],
            points: facts.lengths.map((n, i) => [n, facts[one][i]]),
          })),
          x: w.letters,
          y: w.right,
          top: 1,
          at,
        }),
      );
    // The letters of an output; those that are not the line's are marked.
    const compared = (wanted, got) => {
      const letters = wanted.trim().split(/\s+/);
      const written = got.split(' ').filter(Boolean);
      return make(
        'p',
        { class: 'letters', dir: 'ltr' },
        ...Array.from({ length: Math.max(letters.length, written.length) }, (_, i) =>
          make('span', { class: written[i] === letters[i] ? 'hit' : 'miss' }, written[i] || '·'),
        ),
      );
    };
    function look(line) {
      const n = line.trim().split(/\s+/).length;
      curves(facts.lengths.includes(n) ? n : undefined);
      ask({ text: line }, (answer) => {
        result.replaceChildren(...['plain', 'attention'].map((one) => draw.box(w[one], compared(line, answer[one]))));
        const names = (list) => list.map((token) => (token === '</s>' ? w.end : token));
        map.replaceChildren(
          draw.box(
            w.map,
            draw.heat({
              rows: names(answer.target),
              columns: names(answer.source),
              values: answer.weights,
              plain: answer.source.length > (innerWidth < 600 ? 5 : 9),
            }),
          ),
        );
      });
    }
    look(lines[4]);
    return make('div', {}, chart, length.element, text.element, result, map);
  },
};
