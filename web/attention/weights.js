// Weights and tokens before they are drawn: a matrix of weights as one flat array, means over heads, the displayed
// names of tokens, the position of a token in its text.
import { currentLanguage } from '../lib/language.js';
import { attentionWords } from '../words/attention.js';

// {rows, columns, values}; from rows of numbers, or as it is when it is one already.
export function toGrid(weights) {
  if (!Array.isArray(weights)) return weights;
  const rows = weights.length;
  const columns = rows ? weights[0].length : 0;
  const values = new Float32Array(rows * columns);
  weights.forEach((row, t) => values.set(row, t * columns));
  return { rows, columns, values };
}
export const gridRow = (grid, t) => grid.values.subarray(t * grid.columns, (t + 1) * grid.columns);
export const gridColumn = (grid, s) =>
  Float32Array.from({ length: grid.rows }, (_, t) => grid.values[t * grid.columns + s]);
export function meanOfGrids(grids) {
  const sum = new Float32Array(grids[0].values.length);
  for (const grid of grids) for (let i = 0; i < sum.length; ++i) sum[i] += grid.values[i];
  return { rows: grids[0].rows, columns: grids[0].columns, values: sum.map((x) => x / grids.length) };
}
export const argmax = (list) => list.reduce((best, w, i) => (w > list[best] ? i : best), 0);
export const strongest = (list, count, least) =>
  Array.from(list.keys())
    .filter((i) => list[i] >= least)
    .sort((a, b) => list[b] - list[a])
    .slice(0, count);
export const formatPercent = (w) =>
  w >= 0.0995 ? Math.round(w * 100) + '%' : w >= 0.0005 ? (w * 100).toFixed(1) + '%' : '0%';

// The heads of a picture one by one: those of the target's attention to the source, where it has some.
export function headMaps(picture) {
  const all = picture.attention || [];
  const cross = all.filter((one) => one.kind === 'cross');
  return cross.length > 0 ? cross : all;
}

// The kinds of attention a picture has: target to source first.
export function attentionKinds(picture) {
  const kinds = [...new Set((picture.attention || []).map((one) => one.kind || 'cross'))];
  const order = ['cross', 'encoder', 'decoder'];
  const place = (kind) => (order.includes(kind) ? order.indexOf(kind) : order.length);
  return kinds.sort((a, b) => place(a) - place(b));
}
// The same picture of one kind: keys above, queries below, the mean of its heads.
export function pictureOfKind(picture, kind) {
  const maps = (picture.attention || []).filter((one) => (one.kind || 'cross') === kind);
  if (
    !kind ||
    !maps.length ||
    (kind === 'cross' && (picture.largest || (picture.weights && picture.weights.length !== 0)))
  )
    return picture;
  return {
    ...picture,
    kind,
    source: maps[0].keys || picture.source,
    target: maps[0].queries || picture.target,
    weights: meanOfMaps(maps),
    largest: undefined,
    attention: maps,
  };
}
// All weights of a map that lists the largest of each query only.
export const denseWeights = (map) => (map.largest ? listed([map]) : map.weights);
function listed(maps) {
  const columns = (maps[0].keys || maps[0].source).length;
  const values = new Float32Array(maps[0].largest.index.length * columns);
  for (const { largest } of maps) {
    largest.index.forEach((keys, r) =>
      keys.forEach((key, n) => {
        values[r * columns + key] += largest.weight[r][n] / maps.length;
      }),
    );
  }
  return { rows: maps[0].largest.index.length, columns, values };
}
// The mean of heads; of listed weights without a whole matrix for each.
const meanOfMaps = (maps) =>
  maps.every((one) => one.largest) ? listed(maps) : meanOfGrids(maps.map((one) => toGrid(denseWeights(one))));

// The weights to show: the mean of the heads that match; with no choice, the picture's own.
export function chosenWeights(picture, layer, head) {
  const any = (x) => x === '' || x === undefined || x === null;
  const matching = headMaps(picture).filter(
    (one) => (any(layer) || one.layer === Number(layer)) && (any(head) || one.head === Number(head)),
  );
  if ((any(layer) && any(head)) || matching.length === 0) return toGrid(denseWeights(picture));
  return matching.length === 1 ? toGrid(denseWeights(matching[0])) : meanOfMaps(matching);
}

// What an active token lights on the other side: { source, target }, each null or weights. A cell { t, s } lights
// its row.
export function attentionShares(weights, active) {
  if (!active || !weights) return { source: null, target: null };
  if (active.side === 'source') return { source: null, target: gridColumn(weights, active.i) };
  return { source: gridRow(weights, active.side === 'target' ? active.i : active.t), target: null };
}

// An active token or cell as a cell: of a token, the one with the largest weight.
export function cellOf(weights, { side, i, t, s }) {
  if (side === 'target') return { t: i, s: argmax(gridRow(weights, i)) };
  return side === 'source' ? { t: argmax(gridColumn(weights, i)), s: i } : { t, s };
}

// --- the names of tokens ---
const special = (token) => token === '</s>' || token === '<s>' || token === '<pad>';
const pieced = (tokens) => tokens.some((token) => token.startsWith('▁'));
// Names for the axes and rows. A subword that continues a word begins with a dot, unless all tokens are characters;
// the mark of a word boundary is not shown. The end of the sentence is a word of the page, in brackets.
const named = new WeakMap();
export function tokenNames(tokens) {
  const known = named.get(tokens);
  if (known && known.language === currentLanguage()) return known.names;
  const names = rename(tokens);
  named.set(tokens, { language: currentLanguage(), names });
  return names;
}
function rename(tokens) {
  const pieces = pieced(tokens);
  const characters = tokens.every((token) => special(token) || [...token].length <= 1);
  return tokens.map((token, i) => {
    if (token === '</s>') return `‹${attentionWords.end}›`;
    // Between the turns of a conversation.
    if (token === '<s>') return `‹${i > 0 ? attentionWords.turn : attentionWords.start}›`;
    if (token === '<unk>') return `‹${attentionWords.unknown}›`;
    const plain = token.replace(/^▁/, '');
    if (plain.trim() === '') return '␣';
    return pieces && !characters && i > 0 && !token.startsWith('▁') && /[\p{L}\p{N}]/u.test(plain)
      ? '·' + plain
      : plain;
  });
}
// Whether a target token was rather copied than generated.
export const isCopied = (picture, t) => Boolean(picture.copied && picture.copied[t] >= 0.5);
export const isSpecial = (token) => special(token) || token === '<unk>';
// Tokens as the sentence they came from: characters and SentencePiece's pieces join without spaces.
export function joinTokens(all) {
  const tokens = all.filter((token) => !special(token));
  if (pieced(tokens)) return tokens.join('').replaceAll('▁', ' ').trim();
  return tokens.join(tokens.every((token) => [...token].length === 1) ? '' : ' ');
}

// The position of each token in a text: [from, to] or null. Tokenizers fold width, case and spaces, so both sides are
// folded before they are compared. A token that is not found is skipped.
const fold = (text) =>
  text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[\s▁]+/g, '');
export function findTokens(tokens, text) {
  if (!tokens.length) return [];
  let folded = '';
  const from = [];
  const to = [];
  for (let at = 0; at < text.length;) {
    const letter = String.fromCodePoint(text.codePointAt(at));
    for (const unit of fold(letter).split('')) {
      folded += unit;
      from.push(at);
      to.push(at + letter.length);
    }
    at += letter.length;
  }
  let at = 0;
  return tokens.map((token) => {
    const wanted = isSpecial(token) ? '' : fold(token);
    if (wanted === '') return null;
    const found = at + folded.slice(at, at + 60 + wanted.length).indexOf(wanted); // not through all of a long text
    if (found < at) return null;
    at = found + wanted.length;
    return [from[found], to[at - 1]];
  });
}
