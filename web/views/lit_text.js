// A text whose tokens can be lit: litText(element) returns set(text, tokens), light(shares, own) and at(event), the
// token under the pointer (-1: none). markDifferences(first, other) marks what is new in another text.
import { findTokens } from '../attention/weights.js';
import { make } from '../lib/dom.js';

const LEAST = 0.02;

// `other` as text and <b> elements. What is not in its longest common subsequence with `first` is bold; both are
// compared by word, or by character if `first` has no spaces.
export function markDifferences(first, other) {
  const cut = (text) => (/\s/.test(first.trim()) ? text.split(/(\s+)/) : [...text]);
  const a = cut(first);
  const b = cut(other);
  if (a.length * b.length > 40000) return [other];
  const common = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; --i) {
    for (let j = b.length - 1; j >= 0; --j)
      common[i][j] = a[i] === b[j] ? common[i + 1][j + 1] + 1 : Math.max(common[i + 1][j], common[i][j + 1]);
  }
  const parts = [];
  for (let i = 0, j = 0; j < b.length;) {
    if (i < a.length && a[i] === b[j]) {
      parts.push(b[j]);
      ++i;
      ++j;
    } else if (i < a.length && common[i + 1][j] >= common[i][j + 1]) ++i;
    else {
      parts.push(b[j].trim() === '' ? b[j] : make('b', {}, b[j]));
      ++j;
    }
  }
  return parts;
}

export function litText(element) {
  let spans = [];
  let lit = [];

  function set(text, tokens) {
    const places = findTokens(tokens || [], text);
    const parts = [];
    let at = 0;
    spans = [];
    places.forEach((place, i) => {
      if (!place || place[1] <= at) return;
      const from = Math.max(at, place[0]);
      if (from > at) parts.push(text.slice(at, from));
      const span = make('span', { class: 'token', 'data-i': i }, text.slice(from, place[1]));
      spans[i] = span;
      parts.push(span);
      at = place[1];
    });
    parts.push(text.slice(at));
    // In one piece, since the browser computes the text direction of the element for every added child.
    element.replaceChildren(make('span', {}, ...parts));
    lit = [];
  }

  // The shares of the tokens from `offset` on; `own` is counted from there too.
  function light(shares, own, offset = 0) {
    for (const span of lit) {
      span.classList.remove('lit', 'own');
      span.style.removeProperty('--w');
    }
    lit = [];
    const first = shares ? 0 : Math.max(0, own);
    const last = shares ? shares.length : own + 1;
    for (let i = first; i < last; ++i) {
      const span = spans[i + offset];
      const share = shares ? shares[i] : 0;
      if (!span || (i !== own && !(share >= LEAST))) continue;
      span.classList.add(i === own ? 'own' : 'lit');
      if (i !== own) span.style.setProperty('--w', share);
      lit.push(span);
    }
  }

  // The text may lie under a field for typing, so all layers under the pointer are asked.
  function at(event) {
    const span = document
      .elementsFromPoint(event.clientX, event.clientY)
      .find((one) => one.dataset.i && element.contains(one));
    return span ? Number(span.dataset.i) : -1;
  }
  return { set, light, at };
}
