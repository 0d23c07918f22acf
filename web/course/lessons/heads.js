// One head or several: each letter has to name the letter before it, the letter after it and the first of the line.
import { make } from '../../lib/dom.js';
import { headsWords } from '../../words/lessons/heads.js';
import * as draw from '../draw.js';

export default {
  id: 'heads',
  models: true,
  words: headsWords,
  draw({ w, facts, ask, field }) {
    const lines = [...new Set(facts.examples.map((one) => one.text))];
    let heads = 2;
    let silent = [];
    const maps = make('div', { class: 'maps' });
    const answers = make('div', {});
    const switches = make('div', { class: 'choose' });
    const text = field(w.line, lines[0], lines, () => look());
    const look = () => ask({ text: text.value, heads, silent }, show);
    function toggles() {
      switches.replaceChildren(
        make('span', { class: 'slider-name' }, w.silent),
        ...Array.from({ length: heads }, (_, h) =>
          make(
            'button',
            {
              type: 'button',
              class: 'small silence',
              'aria-pressed': String(silent.includes(h)),
              onclick: () => {
                silent = silent.includes(h) ? silent.filter((one) => one !== h) : [...silent, h].sort();
                toggles();
                switches.querySelectorAll('button')[h].focus();
                look();
              },
            },
            w.head(h + 1),
          ),
        ),
      );
    }
    function show(answer) {
      maps.replaceChildren(
        ...answer.maps.map((values, h) => {
          const box = draw.box(
            w.head(h + 1),
            draw.heat({ rows: answer.words, columns: answer.words, values, plain: true }),
          );
          box.classList.toggle('silent', silent.includes(h));
          return box;
        }),
      );
      const row = (name) =>
        make(
          'tr',
          {},
          make('th', { scope: 'row' }, w[name]),
          ...answer.places.map((one) =>
            make('td', { class: one[name].right ? 'hit' : 'miss' }, one[name].letter || w.edge),
          ),
        );
      answers.replaceChildren(
        draw.box(
          w.answers,
          make(
            'div',
            { class: 'heat-scroll' },
            make(
              'table',
              { class: 'facts letters-table' },
              make(
                'tbody',
                {},
                make(
                  'tr',
                  { class: 'middle' },
                  make('th', { scope: 'row' }, w.letter),
                  ...answer.words.map((word) => make('td', {}, word)),
                ),
                row('before'),
                row('behind'),
                row('first'),
              ),
            ),
          ),
        ),
      );
    }
    toggles();
    look();
    const names = facts.heads
      .map((n, i) => (n === 1 ? w.one : (p) => w.count(n, p))(draw.share(facts.right[i])))
      .join(', ');
    return make(
      'div',
      {},
      make('p', { class: 'aside' }, w.right(names)),
      draw.choice(
        w.heads,
        facts.heads.map((n) => [n, String(n)]),
        heads,
        (n) => {
          heads = n;
          silent = [];
          toggles();
          look();
        },
      ),
      switches,
      text.element,
      answers,
      make('p', { class: 'aside' }, w.asks),
      maps,
    );
  },
};
