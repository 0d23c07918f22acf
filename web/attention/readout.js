// Attention in words: what a token attended to, as a line and as a table.
import { make } from '../lib/dom.js';
import { attentionWords } from '../words/attention.js';
import { attentionShares, formatPercent, gridRow, strongest, tokenNames } from './weights.js';

const FULL = 1600; // cells up to which the table shows every weight

const listOf = (shares, names, count) =>
  strongest(shares, count, 0.005)
    .map((i) => `${names[i]} ${formatPercent(shares[i])}`)
    .join(', ');

// The name of a mean over heads, or of one head; '' for all.
export function headLabel(layer, head) {
  if (layer === '' && head === '') return attentionWords.allMean;
  if (layer === '') return attentionWords.headMean(head);
  return head === '' ? attentionWords.layerMean(layer) : attentionWords.oneHead(layer, head);
}

// The weights of an active token or cell; null: how to choose one.
export function readout(picture, weights, active) {
  if (!active) return attentionWords.hint;
  const source = tokenNames(picture.source);
  const target = tokenNames(picture.target);
  const { side, i, t, s } = active;
  if (!side) return attentionWords.cell(target[t], source[s], weights.values[t * weights.columns + s].toFixed(4));
  const shares = attentionShares(weights, active);
  const list = side === 'target' ? listOf(shares.source, source, 4) : listOf(shares.target, target, 4);
  if (side === 'source') return attentionWords.received(source[i], list || attentionWords.nothing);
  const copied = picture.copied ? ' · ' + attentionWords.copiedShare(formatPercent(picture.copied[i])) : '';
  return attentionWords.attended(target[i], list || attentionWords.nothing) + copied;
}

// The weights as a table, which is made when the reader opens it: element, write() and draw(picture, weights).
export function weightsTable() {
  let shown = null;
  const summary = make('summary');
  const table = make('table', { class: 'weights-table' });
  const scroll = make('div', { class: 'weights-scroll' }, table);
  const element = make('details', { class: 'weights', ontoggle: tabulate }, summary, scroll);

  function tabulate() {
    table.replaceChildren();
    if (!element.open || !shown) return;
    const { picture, weights } = shown;
    const source = tokenNames(picture.source);
    const target = tokenNames(picture.target);
    const full = source.length * target.length <= FULL;
    const line = (...cells) => make('tr', {}, ...cells);
    const strongestOf = (row) => [make('td', { class: 'words' }, listOf(row, source, 5))];
    const all = (row) => Array.from(row, (w) => make('td', {}, w.toFixed(3)));
    const top = (full ? source : [attentionWords.strongest]).map((name) => make('th', { scope: 'col' }, name));
    const body = target.map((name, t) => {
      const row = gridRow(weights, t);
      return line(make('th', { scope: 'row' }, name), ...(full ? all(row) : strongestOf(row)));
    });
    table.append(make('thead', {}, line(make('td'), ...top)), make('tbody', {}, ...body));
  }
  return {
    element,
    write() {
      summary.textContent = attentionWords.table;
    },
    draw(picture, weights) {
      shown = { picture, weights };
      tabulate();
    },
  };
}
