// Two rows of tokens joined by ribbons. tokenRows({ onactive, onpin }) reports a token that is pointed at or reached
// with the keys; the owner answers with light(active, pinned). It has element, draw, light and resize.
import { cssColour, textColourOn, weightColour } from '../lib/colour.js';
import { make, shape } from '../lib/dom.js';
import { currentLanguage } from '../lib/language.js';
import { attentionWords } from '../words/attention.js';
import { drawRibbons, LEAST } from './ribbons.js';
import { argmax, attentionShares, cellOf, formatPercent, isCopied, isSpecial, tokenNames } from './weights.js';

const MANY = 90; // tokens on a side from which both sides are columns that scroll
const SIDES = ['source', 'target'];

// A figure over a short token must not overlap its neighbours'.
const shareText = (share, letters) =>
  letters > 3 ? formatPercent(share) : String(Math.round(share * 100)) + (letters > 2 ? '%' : '');

class TokenRows {
  #owner;
  #picture = { source: [], target: [] };
  #weights = null;
  #coloured = null; // several heads at once: [{ colour, weights }]
  #active = null;
  #pinned = false; // the active token is selected
  #language = '';
  #touched = new Set(); // tokens that are lit
  #lines = shape('svg', { class: 'attention-lines', 'aria-hidden': 'true' });
  #lists = { source: make('ol', { class: 'tokens source' }), target: make('ol', { class: 'tokens target' }) };
  #captions = { source: make('p', { 'aria-hidden': 'true' }), target: make('p', { 'aria-hidden': 'true' }) };
  element = make(
    'div',
    { class: 'attention-rows' },
    this.#lines,
    make('div', { class: 'attention-side' }, this.#captions.source, this.#lists.source),
    make('div', { class: 'attention-gap' }),
    make('div', { class: 'attention-side' }, this.#captions.target, this.#lists.target),
  );

  constructor(owner) {
    this.#owner = owner;
    this.#listen();
  }

  draw(picture, weights, coloured = null) {
    const spelled = (one, name) => one[name].join('\n') + (name === 'target' ? '\n' + (one.copied || []).join() : '');
    const same = SIDES.every((name) => spelled(this.#picture, name) === spelled(picture, name));
    this.#picture = picture;
    this.#weights = weights;
    this.#coloured = coloured;
    for (const name of SIDES) {
      this.#caption(name);
      if (!same || this.#language !== currentLanguage()) this.#fill(name);
    }
    this.#language = currentLanguage();
    this.element.classList.toggle('many', Math.max(picture.source.length, picture.target.length) > MANY);
    this.#settle();
  }

  // active is null, { side, i }, or { t, s } for a cell of the map.
  light(active, pinned) {
    this.#active = active;
    this.#pinned = pinned;
    // A thousand tokens are not all dimmed whenever something is lit.
    this.element.classList.toggle('lit', Boolean(active) && !this.#many());
    const shares = attentionShares(this.#weights, active);
    // Only the tokens whose highlighting changes are touched: of a thousand, a few.
    const before = this.#touched;
    this.#touched = new Set();
    for (const name of SIDES) {
      const items = this.#lists[name].children;
      const own = this.#ownOf(name);
      if (items[own]) this.#paint(items[own].firstChild, null, true);
      (shares[name] || []).forEach((w, i) => {
        if (w >= LEAST && items[i]) this.#paint(items[i].firstChild, w, false);
      });
    }
    for (const one of before) if (!this.#touched.has(one)) this.#paint(one, null, false);
    this.#ribbons();
    if (active && this.#many()) this.#follow(shares);
  }

  resize() {
    this.#settle();
    this.#ribbons();
  }

  #many() {
    return this.element.classList.contains('many');
  }

  // The index of the active token on a side; -1: none.
  #ownOf(name) {
    const { side, i, t } = this.#active || {};
    if (side === name) return i;
    return name === 'target' && t !== undefined ? t : -1;
  }

  #caption(name) {
    const { kind, sides, copied } = this.#picture;
    // In self-attention both sides are the same text: queries and keys.
    const self = kind && kind !== 'cross';
    const key = self ? { source: 'keys', target: 'queries' }[name] : (sides || {})[name] || name;
    this.#captions[name].textContent = attentionWords[key];
    this.#lists[name].setAttribute('aria-label', attentionWords[key]);
    if (name !== 'target' || !copied || self) return;
    this.#captions[name].append(' · ', make('span', { class: 'copied-note' }, attentionWords.copiedWords));
  }

  // Each side is one row, set tighter if it does not fit; if it still does not fit, it wraps.
  #settle() {
    const { classList } = this.element;
    classList.remove('tight', 'wrapped');
    if (this.#many() || !this.element.clientWidth) return;
    const flat = () =>
      SIDES.every((name) => {
        const items = this.#lists[name].children;
        return !items.length || items[items.length - 1].offsetTop - items[0].offsetTop < 8;
      });
    if (flat()) return;
    classList.add('tight');
    if (flat()) return;
    classList.replace('tight', 'wrapped');
  }

  #fill(name) {
    const tokens = this.#picture[name];
    const subwords = tokens.some((token) => token.startsWith('▁'));
    const item = (label, i) => {
      const joined = label.startsWith('·');
      const copied = name === 'target' && isCopied(this.#picture, i) ? 'copied' : '';
      const button = make(
        'button',
        {
          type: 'button',
          tabindex: i === 0 ? '0' : '-1',
          dir: 'auto',
          class: isSpecial(tokens[i]) ? 'special' : copied,
          'data-side': name,
          'data-i': i,
        },
        joined ? label.slice(1) : label,
        make('span', { class: 'share', 'aria-hidden': 'true' }),
      );
      return make('li', { class: subwords && i > 0 && joined ? 'joined' : '' }, button);
    };
    this.#lists[name].replaceChildren(...tokenNames(tokens).map(item));
  }

  // One listener each for all tokens.
  #listen() {
    const { element } = this;
    const owner = this.#owner;
    const which = (event) => {
      const button = event.target.closest && event.target.closest('.tokens button');
      return button ? { side: button.dataset.side, i: Number(button.dataset.i) } : null;
    };
    element.addEventListener('pointerover', (event) => event.pointerType !== 'touch' && owner.onactive(which(event)));
    element.addEventListener('pointerleave', (event) => event.pointerType !== 'touch' && owner.onactive(null));
    element.addEventListener('focusin', (event) => {
      const at = which(event);
      if (!at) return;
      for (const item of this.#lists[at.side].children) item.firstChild.tabIndex = -1;
      event.target.tabIndex = 0;
      if (event.target.matches(':focus-visible')) owner.onactive(at);
    });
    element.addEventListener('focusout', () => owner.onactive(null));
    element.addEventListener('click', (event) => {
      const at = which(event);
      if (at) owner.onpin(at);
    });
    element.addEventListener('keydown', (event) => {
      const at = which(event);
      if (at && event.key === 'Escape') owner.onpin(null);
      const to = at && this.#next(event.key, at);
      if (!to) return;
      event.preventDefault();
      owner.onpin(null);
      this.#lists[to.side].children[to.i].firstChild.focus();
      owner.onactive(to);
    });
  }

  // Left and right move along a row; down and up move to the token on the other side with the largest weight.
  #next(key, { side, i }) {
    const { source, target } = this.#picture;
    const last = this.#picture[side].length - 1;
    const along = { ArrowRight: Math.min(last, i + 1), ArrowLeft: Math.max(0, i - 1), Home: 0, End: last }[key];
    if (along !== undefined) return { side, i: along };
    const { t, s } = cellOf(this.#weights, { side, i });
    if (key === 'ArrowDown' && side === 'source' && target.length) return { side: 'target', i: t };
    return key === 'ArrowUp' && side === 'target' && source.length ? { side: 'source', i: s } : null;
  }

  #paint(button, share, own) {
    if (own || share !== null) this.#touched.add(button);
    button.classList.toggle('active', own);
    button.classList.toggle('pinned', own && this.#pinned);
    button.classList.toggle('on', share !== null);
    const colour = share === null ? null : weightColour(share);
    button.style.backgroundColor = colour ? cssColour(colour) : '';
    button.style.color = colour ? textColourOn(colour) : '';
    button.lastChild.textContent = colour ? shareText(share, button.firstChild.length) : '';
  }

  // In long texts, scrolls to the token of the other side with the largest weight.
  #follow(shares) {
    for (const name of SIDES) {
      const items = this.#lists[name].children;
      if (!shares[name] || !items.length) continue;
      const pane = this.#lists[name].parentElement;
      const { top } = items[argmax(shares[name])].getBoundingClientRect();
      const off = top - pane.getBoundingClientRect().top;
      if (off < 30 || off > pane.clientHeight - 40) pane.scrollTop += off - pane.clientHeight / 2;
    }
  }

  // All ribbons, faint, if both sides are one row of few tokens; otherwise only those of the active token.
  #ribbons() {
    this.#lines.replaceChildren();
    const { source, target } = this.#picture;
    const nothing = !this.#weights || !source.length || !target.length;
    if (nothing || this.#many() || !this.element.clientWidth) return;
    const frame = this.element.getBoundingClientRect();
    const ends = (list, edge) =>
      Array.from(list.children, (item) => {
        const box = item.getBoundingClientRect();
        return { x: box.left + box.width / 2 - frame.left, y: box[edge] - frame.top };
      });
    drawRibbons(this.#lines, {
      from: ends(this.#lists.source, 'bottom'),
      to: ends(this.#lists.target, 'top'),
      heads: this.#coloured || [{ weights: this.#weights, colour: null }],
      active: this.#active,
      faint: !this.element.classList.contains('wrapped'),
    });
  }
}

export const tokenRows = (owner) => new TokenRows(owner);
