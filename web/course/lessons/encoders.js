// RNN, CNN and Transformer: which words influence which states, measured by replacing a word.
import { make } from '../../lib/dom.js';
import { encodersWords } from '../../words/lessons/encoders.js';
import * as draw from '../draw.js';

export default {
  id: 'encoders',
  models: true,
  words: encodersWords,
  draw({ w, facts, ask, field }) {
    const kinds = ['rnn', 'cnn', 'transformer'];
    const lines = facts.examples.map((one) => one.text);
    const place = make('div', {});
    const now = make('div', { class: 'three' });
    const maps = make('div', { class: 'maps' });
    const outputs = make('div', { class: 'three' });
    const text = field(w.sentence, lines[0], lines, () => look());
    let at = 0;
    let answer = null;
    const look = () =>
      ask({ text: text.value }, (got) => {
        answer = got;
        const rows = answer.models.rnn.reach.length;
        at = Math.min(at, rows - 1);
        place.replaceChildren(
          draw.slider({
            name: w.word,
            min: 1,
            max: rows,
            step: 1,
            value: at + 1,
            show: (v) => answer.words[v - 1],
            oninput: (v) => {
              at = v - 1;
              show();
            },
          }).element,
        );
        outputs.replaceChildren(
          ...kinds.map((kind) =>
            draw.box(`${w.names[kind]}: ${w.output}`, make('p', { class: 'written' }, answer.models[kind].text)),
          ),
        );
        show();
      });
    function show() {
      const names = answer.words.map((token) => (token === '</s>' ? w.end : token));
      now.replaceChildren(
        ...kinds.map((kind) =>
          draw.box(
            w.names[kind],
            draw.bars(
              make('div', {}),
              answer.models[kind].reach[at].map((value, i) => ({
                name: names[i],
                value,
                text: draw.number(value, 4),
                mark: i === at,
              })),
            ),
          ),
        ),
      );
      maps.replaceChildren(
        ...kinds.map((kind) =>
          draw.box(
            w.names[kind],
            draw.heat({
              rows: names.slice(0, answer.models[kind].reach.length),
              columns: names,
              values: answer.models[kind].reach,
              plain: true,
              mark: (i) => i === at,
            }),
          ),
        ),
      );
    }
    look();
    const table = make(
      'table',
      { class: 'facts' },
      make('caption', {}, w.table),
      make(
        'thead',
        {},
        make('tr', {}, make('td', {}), ...kinds.map((kind) => make('th', { scope: 'col' }, w.names[kind]))),
      ),
      make(
        'tbody',
        {},
        make(
          'tr',
          {},
          make('th', { scope: 'row' }, w.right),
          ...kinds.map((kind) => make('td', {}, draw.share(facts.right[kind]))),
        ),
        make(
          'tr',
          {},
          make('th', { scope: 'row' }, w.seconds),
          ...kinds.map((kind) => make('td', {}, draw.number(facts.each[kind], 1))),
        ),
        make(
          'tr',
          {},
          make('th', { scope: 'row' }, w.weights),
          ...kinds.map((kind) => make('td', {}, String(facts.weights[kind]))),
        ),
      ),
    );
    return make(
      'div',
      {},
      table,
      text.element,
      outputs,
      place,
      make('h4', {}, w.change),
      now,
      make('h4', {}, w.all),
      maps,
    );
  },
};
