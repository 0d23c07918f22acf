// Changes to the model while it runs. interventionPanel({ onchange }) offers the changes that fit the selected cell,
// token or head, and lists those that were made; `list` is sent with a request for /attention.
import { make } from '../lib/dom.js';
import { onLanguageChange } from '../lib/language.js';
import { changesWords } from '../words/changes.js';
import { sentenceAt } from './parts.js';
import { isSpecial, tokenNames } from './weights.js';

export function interventionPanel(owner) {
  const offers = make('div', { class: 'offers', role: 'group' });
  const done = make('ul', { class: 'changes' });
  const hint = make('p', { class: 'aside' });
  const element = make('div', { class: 'intervene' }, hint, offers, done);
  let list = [];
  let picture = null;
  let state = null;

  const number = (text) => (text === '' || text === undefined ? undefined : Number(text));
  // Where the picture is: one kind, and the layer and head that are chosen.
  const site = () => {
    const at = { kind: (picture && picture.kind) || 'cross' };
    if (state && number(state.layer) !== undefined) at.layer = number(state.layer);
    if (state && number(state.head) !== undefined) at.head = number(state.head);
    return at;
  };
  function add(change, label) {
    list = [...list, { change, label }];
    draw();
    owner.onchange();
  }
  function offer() {
    const w = changesWords;
    const out = [];
    const button = (name, label, change, said) =>
      out.push(
        make('button', { type: 'button', class: 'small', 'data-do': name, onclick: () => add(change, said) }, label),
      );
    const at = state && state.pinned;
    if (picture && at) {
      const names = { source: tokenNames(picture.source), target: tokenNames(picture.target) };
      // Positions are counted within a sentence; `line` is its number, where there are several.
      const within = (axis, i) => {
        const { line, from } = sentenceAt(picture, axis, i);
        return { i: i - from, ...((picture.sentences || []).length > 1 ? { line: { line: line + 1 } } : {}) };
      };
      if (at.t !== undefined && sentenceAt(picture, 'target', at.t).line === sentenceAt(picture, 'source', at.s).line) {
        const pair = [names.target[at.t], names.source[at.s]];
        const edge = {
          ...site(),
          query: within('target', at.t).i,
          key: within('source', at.s).i,
          ...within('target', at.t).line,
        };
        button('cut', w.cut, { do: 'cut', ...edge }, w.changes.cut(...pair));
        button('force', w.force, { do: 'force', ...edge }, w.changes.force(...pair));
      }
      const s = at.side === 'source' ? at.i : at.s;
      if (s !== undefined && site().kind !== 'decoder' && !isSpecial(picture.source[s]))
        button(
          'mask',
          w.mask(names.source[s]),
          { do: 'mask', token: within('source', s).i, ...within('source', s).line },
          w.changes.mask(names.source[s]),
        );
    }
    const here = site();
    if (here.layer !== undefined && here.head !== undefined) {
      button('silence', w.silence, { do: 'silence', ...here }, w.changes.silence(here.layer, here.head));
      button('uniform', w.uniform, { do: 'uniform', ...here }, w.changes.uniform(here.layer, here.head));
    }
    if (list.length)
      out.push(
        make('button', { type: 'button', class: 'small', 'data-do': 'undo', onclick: () => clear(true) }, w.undo),
      );
    offers.replaceChildren(...out);
    offers.setAttribute('aria-label', w.change);
    hint.textContent = out.length ? '' : w.changeHint;
    hint.hidden = out.length > 0;
  }
  function draw() {
    done.replaceChildren(
      ...list.map((one, i) =>
        make(
          'li',
          {},
          make(
            'button',
            {
              type: 'button',
              class: 'chip-text',
              'aria-label': changesWords.remove(one.label),
              title: changesWords.remove(one.label),
              onclick: () => {
                list = list.filter((_, j) => j !== i);
                draw();
                owner.onchange();
              },
            },
            one.label,
            ' ×',
          ),
        ),
      ),
    );
    offer();
  }
  function clear(notify) {
    if (!list.length) return;
    list = [];
    draw();
    if (notify) owner.onchange();
  }
  onLanguageChange(draw);
  draw();
  return {
    element,
    clear,
    follow(newPicture, newState) {
      picture = newPicture;
      state = newState;
      offer();
    },
    get list() {
      return list.map((one) => one.change);
    },
  };
}
