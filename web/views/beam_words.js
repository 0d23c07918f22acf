// A beam of subwords as a beam of words. A subword that continues a word is joined to it. Where one hypothesis
// continues the word and another begins the next one, there are two words. Hypotheses that were dropped within a
// word are left out, since the rest of the word is unknown.
import { isSpecial } from '../attention/weights.js';

const text = (token) => (token || '').replaceAll('▁', '');
// Punctuation, and tokens of scripts without spaces, are words of their own.
const alone = (token) =>
  !/^[\p{L}\p{N}\p{M}]/u.test(text(token)) ||
  /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u.test(text(token));
const goesOn = (token) => Boolean(token) && !token.startsWith('▁') && !isSpecial(token) && !alone(token);

export function beamOfWords(beam) {
  if (!beam || !beam.nodes.some((node) => (node.token || '').startsWith('▁'))) return beam;
  const children = new Map();
  for (const node of beam.nodes) {
    if (!children.has(node.parent)) children.set(node.parent, []);
    children.get(node.parent).push(node);
  }
  const best = new Set(beam.best || []);
  const nodes = [];
  const path = [];
  // The word that ends at `last` and was begun under the word `up`; the pieces before `last` are in `before`.
  const rest = beam.nodes.filter((node) => node.parent < 0).map((node) => ({ last: node, before: '', up: -1 }));
  while (rest.length) {
    const { last, before, up } = rest.pop();
    const token = before + last.token;
    const next = children.get(last.id) || [];
    const open = Boolean(token) && !isSpecial(last.token) && !alone(last.token);
    const longer = next.filter((node) => open && goesOn(node.token));
    for (const node of longer) rest.push({ last: node, before: token, up });
    const after = next.filter((node) => !longer.includes(node));
    const dropped = !next.length && !last.finished && !best.has(last.id) && open;
    if (dropped || (longer.length && !after.length)) continue; // no word ends here
    const id = nodes.length;
    nodes.push({ ...last, id, parent: up, token, ...(isSpecial(last.token) ? {} : { word: text(token) }) });
    if (best.has(last.id) && !longer.some((node) => best.has(node.id))) path.push(id);
    for (const node of after) rest.push({ last: node, before: '', up: id });
  }
  return { nodes, best: path };
}
