// A classifier's decision. labelBars(labels, chosen, onchoose) draws labels as bars. shadedText(text, tokens,
// values) shades the tokens of a text by their values, negative ones in another colour; without a text it joins the
// tokens. decisionRows(record, label) returns the text shaded by attention and by the saliency of the label.
import { findTokens } from '../attention/weights.js';
import { make } from '../lib/dom.js';
import { classifyWords } from '../words/classify.js';

const LABELS = 12; // shown as bars; more are counted

// An element with a value for its style sheet: the server allows no style attributes.
const styled = (element, name, value) => {
  element.style.setProperty(name, value);
  return element;
};

export const labelBars = (labels, chosen, onchoose) => [
  ...labels
    .slice(0, LABELS)
    .map(({ label, probability }) =>
      styled(
        make(
          'button',
          { type: 'button', class: 'label', 'aria-pressed': String(label === chosen), onclick: () => onchoose(label) },
          make('span', { class: 'label-name' }, label),
          make('span', { class: 'label-value' }, `${(100 * probability).toFixed(1)} %`),
        ),
        '--p',
        probability,
      ),
    ),
  ...(labels.length > LABELS ? [make('p', { class: 'aside' }, classifyWords.moreLabels(labels.length - LABELS))] : []),
];

// Tokens as a text: ▁ is a space where tokens have it, else there is one between them.
function joined(tokens) {
  const marked = tokens.some((token) => token.includes('▁'));
  const shown = tokens.filter((token) => token !== '</s>');
  return marked ? shown.join('').replaceAll('▁', ' ').trim() : shown.join(' ');
}

export function shadedText(given, tokens, values) {
  const text = given === undefined ? joined(tokens) : given;
  const most = Math.max(1e-9, ...values.map(Math.abs));
  const parts = [];
  let at = 0;
  findTokens(tokens, text).forEach((place, i) => {
    if (!place || place[1] <= at) return;
    const from = Math.max(at, place[0]);
    if (from > at) parts.push(text.slice(at, from));
    const span = make(
      'span',
      { class: values[i] < 0 ? 'word against' : 'word', title: values[i].toFixed(3) },
      text.slice(from, place[1]),
    );
    parts.push(styled(span, '--w', (Math.abs(values[i]) / most).toFixed(3)));
    at = place[1];
  });
  parts.push(text.slice(at));
  return make('p', { class: 'shaded', dir: 'auto' }, ...parts);
}

// record: tokens, attention (may be empty), saliency by label (may be missing), text (may be missing).
export function decisionRows(record, label) {
  const row = (title, note, values) =>
    make(
      'div',
      { class: 'decided-row' },
      make('h3', {}, title, ' ', make('span', { class: 'aside' }, note)),
      shadedText(record.text, record.tokens, values),
    );
  const rows = [];
  if (record.attention && record.attention.length)
    rows.push(row(classifyWords.attention, classifyWords.attentionNote, record.attention));
  const saliency = (record.saliency || {})[label];
  if (saliency) rows.push(row(classifyWords.saliencyOf(label), classifyWords.saliencyNote, saliency));
  return rows;
}
