// Two rows of tokens joined by ribbons. tokenRows({ onactive, onpin }) reports a token that is pointed at or reached
// with the keys; the owner answers with light(active, pinned). It returns element, draw, light and resize.
import { cssColour, textColourOn, weightColour } from '../lib/colour.js';
import { make, shape } from '../lib/dom.js';
import { currentLanguage } from '../lib/language.js';
import { attentionWords } from '../words/attention.js';
import {
  argmax,
  attentionShares,
  formatPercent,
  gridColumn,
  gridRow,
  isCopied,
  isSpecial,
  tokenNames,
} from './weights.js';

const MANY = 90; // tokens on a side from which both sides are columns that scroll
const LEAST = 0.02; // smaller weights are not lit

export function tokenRows(owner) {
  let picture = { source: [], target: [] };
  let weights = null;
  let active = null;
  let held = false;
  let language = '';
  let coloured = null; // several heads at once: [{colour, weights}]
  const lines = shape('svg', { class: 'attention-lines', 'aria-hidden': 'true' });
  const lists = { source: make('ol', { class: 'tokens source' }), target: make('ol', { class: 'tokens target' }) };
  const captions = { source: make('p', { 'aria-hidden': 'true' }), target: make('p', { 'aria-hidden': 'true' }) };
  const side = (name) => make('div', { class: 'attention-side' }, captions[name], lists[name]);
  const element = make(
    'div',
    { class: 'attention-rows' },
    lines,
    side('source'),
    make('div', { class: 'attention-gap' }),
    side('target'),
  );
  const button = (name, i) => lists[name].children[i].firstChild;

  function draw(newPicture, newWeights, newColoured = null) {
    const spelled = (one, name) => one[name].join('\n') + (name === 'target' ? '\n' + (one.copied || []).join() : '');
    const sameTokens = ['source', 'target'].every((name) => spelled(picture, name) === spelled(newPicture, name));
    picture = newPicture;
    weights = newWeights;
    coloured = newColoured;
    for (const name of ['source', 'target']) {
      // In self-attention both sides are the same text: queries and keys.
      const self = picture.kind && picture.kind !== 'cross';
      const caption =
        attentionWords[self ? (name === 'source' ? 'keys' : 'queries') : (picture.sides || {})[name] || name];
      captions[name].textContent = caption;
      lists[name].setAttribute('aria-label', caption);
      if (name === 'target' && picture.copied && !self)
        captions[name].append(' · ', make('span', { class: 'copied-note' }, attentionWords.copiedWords));
      if (!sameTokens || language !== currentLanguage()) fill(name);
    }
    language = currentLanguage();
    element.classList.toggle('many', Math.max(picture.source.length, picture.target.length) > MANY);
    settle();
  }

  // Each side is one row, set tighter if it does not fit; if it still does not fit, it wraps.
  function settle() {
    element.classList.remove('tight', 'wrapped');
    if (element.classList.contains('many') || !element.clientWidth) return;
    const flat = () =>
      ['source', 'target'].every((name) => {
        const items = lists[name].children;
        return !items.length || items[items.length - 1].offsetTop - items[0].offsetTop < 8;
      });
    if (flat()) return;
    element.classList.add('tight');
    if (flat()) return;
    element.classList.replace('tight', 'wrapped');
  }

  function fill(name) {
    const tokens = picture[name];
    const labels = tokenNames(tokens);
    const pieces = tokens.some((token) => token.startsWith('▁'));
    lists[name].replaceChildren(
      ...labels.map((label, i) =>
        make(
          'li',
          { class: pieces && i > 0 && label.startsWith('·') ? 'joined' : '' },
          make(
            'button',
            {
              type: 'button',
              tabindex: i === 0 ? '0' : '-1',
              dir: 'auto',
              class: isSpecial(tokens[i]) ? 'special' : name === 'target' && isCopied(picture, i) ? 'copied' : '',
              'data-side': name,
              'data-i': i,
            },
            label.startsWith('·') ? label.slice(1) : label,
            make('span', { class: 'share', 'aria-hidden': 'true' }),
          ),
        ),
      ),
    );
  }

  // One listener each for all tokens.
  const which = (event) => {
    const b = event.target.closest && event.target.closest('.tokens button');
    return b ? { side: b.dataset.side, i: Number(b.dataset.i) } : null;
  };
  element.addEventListener('pointerover', (event) => event.pointerType !== 'touch' && owner.onactive(which(event)));
  element.addEventListener('pointerleave', (event) => event.pointerType !== 'touch' && owner.onactive(null));
  element.addEventListener('focusin', (event) => {
    const at = which(event);
    if (!at) return;
    for (const item of lists[at.side].children) item.firstChild.tabIndex = -1;
    event.target.tabIndex = 0;
    if (event.target.matches(':focus-visible')) owner.onactive(at);
  });
  element.addEventListener('focusout', () => owner.onactive(null));
  element.addEventListener('click', (event) => {
    const at = which(event);
    if (at) owner.onpin(at);
  });
  // Left and right move along a row; down and up move to the token on the other side with the largest weight.
  element.addEventListener('keydown', (event) => {
    const at = which(event);
    if (!at) return;
    const count = picture[at.side].length;
    let to = null;
    if (event.key === 'ArrowRight') to = { side: at.side, i: Math.min(count - 1, at.i + 1) };
    else if (event.key === 'ArrowLeft') to = { side: at.side, i: Math.max(0, at.i - 1) };
    else if (event.key === 'Home') to = { side: at.side, i: 0 };
    else if (event.key === 'End') to = { side: at.side, i: count - 1 };
    else if (event.key === 'ArrowDown' && at.side === 'source' && picture.target.length)
      to = { side: 'target', i: argmax(gridColumn(weights, at.i)) };
    else if (event.key === 'ArrowUp' && at.side === 'target' && picture.source.length)
      to = { side: 'source', i: argmax(gridRow(weights, at.i)) };
    else if (event.key === 'Escape') {
      owner.onpin(null);
      return;
    } else return;
    event.preventDefault();
    owner.onpin(null);
    button(to.side, to.i).focus();
    owner.onactive(to);
  });

  // A figure over a short token must not run into its neighbours'.
  const shareText = (share, letters) =>
    letters > 3 ? formatPercent(share) : String(Math.round(share * 100)) + (letters > 2 ? '%' : '');
  // Only the tokens whose highlighting changes are touched: of a thousand, a few.
  let touched = new Set();
  function paint(b, share, own) {
    if (own || share !== null) touched.add(b);
    b.classList.toggle('active', own);
    b.classList.toggle('pinned', own && held);
    b.classList.toggle('on', share !== null);
    const colour = share === null ? null : weightColour(share);
    b.style.backgroundColor = colour ? cssColour(colour) : '';
    b.style.color = colour ? textColourOn(colour) : '';
    b.lastChild.textContent = colour ? shareText(share, b.firstChild.length) : '';
  }

  // active is null, {side, i}, or {t, s} for a cell of the map.
  function light(newActive, newHeld) {
    active = newActive;
    held = newHeld;
    // A thousand tokens are not dimmed one and all whenever something is lit.
    element.classList.toggle('lit', Boolean(active) && !element.classList.contains('many'));
    const shares = attentionShares(weights, active);
    const before = touched;
    touched = new Set();
    for (const name of ['source', 'target']) {
      const items = lists[name].children;
      const own = !active
        ? -1
        : active.side === name
          ? active.i
          : name === 'target' && active.t !== undefined
            ? active.t
            : -1;
      if (own >= 0 && items[own]) paint(items[own].firstChild, null, true);
      if (shares[name])
        shares[name].forEach((w, i) => {
          if (w >= LEAST && items[i]) paint(items[i].firstChild, w, false);
        });
    }
    for (const b of before) if (!touched.has(b)) paint(b, null, false);
    redraw();
    if (active && element.classList.contains('many')) follow(shares);
  }

  // In long texts, brings the most attended token of the other side into its scrolling part.
  function follow(shares) {
    for (const name of ['source', 'target']) {
      if (!shares[name] || !lists[name].children.length) continue;
      const pane = lists[name].parentElement;
      const off =
        lists[name].children[argmax(shares[name])].getBoundingClientRect().top - pane.getBoundingClientRect().top;
      if (off < 30 || off > pane.clientHeight - 40) pane.scrollTop += off - pane.clientHeight / 2;
    }
  }

  // All ribbons, faint, if both sides are one row of few tokens; otherwise only those of the active token.
  function redraw() {
    lines.replaceChildren();
    if (
      !weights ||
      !picture.source.length ||
      !picture.target.length ||
      element.classList.contains('many') ||
      !element.clientWidth
    )
      return;
    const frame = element.getBoundingClientRect();
    const place = (list, edge) =>
      Array.from(list.children, (item) => {
        const box = item.getBoundingClientRect();
        return { x: box.left + box.width / 2 - frame.left, y: box[edge] - frame.top };
      });
    const from = place(lists.source, 'bottom');
    const to = place(lists.target, 'top');
    const path = (t, s, strong) => {
      if (!coloured) {
        line(weights, t, s, strong, null, 0);
        return;
      }
      // Side by side, so that no head hides another.
      coloured.forEach((one, i) => line(one.weights, t, s, strong, one.colour, (i - (coloured.length - 1) / 2) * 2.2));
    };
    const line = (grid, t, s, strong, stroke, aside) => {
      const w = grid.values[t * grid.columns + s];
      if (w < (strong ? LEAST : stroke ? 0.1 : 0.04)) return;
      const a = from[s];
      const b = to[t];
      const bend = (b.y - a.y) * 0.45;
      const [x0, x1] = [a.x + aside, b.x + aside];
      const d = `M${x0} ${a.y}C${x0} ${a.y + bend} ${x1} ${b.y - bend} ${x1} ${b.y}`;
      const ribbon = shape('path', {
        d,
        'stroke-width': strong ? 1 + 4.5 * w : 0.8 + 3.2 * w,
        'stroke-opacity': strong ? 0.15 + 0.85 * w : active ? 0.05 : 0.06 + 0.6 * w * w,
      });
      if (stroke) ribbon.style.stroke = stroke;
      lines.append(ribbon);
    };
    const isActive = (t, s) =>
      active &&
      (active.side === 'target'
        ? active.i === t
        : active.side === 'source'
          ? active.i === s
          : active.t === t && active.s === s);
    if (!element.classList.contains('wrapped') && from.length * to.length <= 2500) {
      for (let t = 0; t < to.length; ++t) for (let s = 0; s < from.length; ++s) if (!isActive(t, s)) path(t, s, false);
    }
    if (!active) return;
    if (active.side === 'target') from.forEach((_, s) => path(active.i, s, true));
    else if (active.side === 'source') to.forEach((_, t) => path(t, active.i, true));
    else path(active.t, active.s, true);
  }

  return {
    element,
    draw,
    light,
    resize: () => {
      settle();
      redraw();
    },
  };
}
