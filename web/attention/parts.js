// The sentences of a text do not attend to each other, so a long text is shown in parts of whole sentences. A
// sentence is { source, target, output }: the number of its tokens on both sides, as /attention counts them.
import { joinTokens } from './weights.js';

const PART = 400; // tokens on a side of a part, unless one sentence has more

// The sentence of a row ('target') or column ('source') of the picture: { line, from, to }, counted from 0.
export function sentenceAt(picture, axis, i) {
  const side = picture.kind === 'encoder' ? 'source' : picture.kind === 'decoder' ? 'target' : axis;
  let from = 0;
  for (const [k, one] of (picture.sentences || []).entries()) {
    if (i < from + one[side]) return { line: (picture.line || 0) + k, from, to: from + one[side] };
    from += one[side];
  }
  return { line: picture.line || 0, from: 0, to: Infinity };
}

// Splits a picture whose maps list the largest weights. Each part has `offset`, the index of its first token on both
// sides, `line`, its first sentence, and `sentences`. The weights of a part are computed when it is shown.
export function splitPicture(picture, sentences) {
  const out = [];
  let at = 0;
  const offset = { source: 0, target: 0 };
  while (at < sentences.length) {
    const size = { source: 0, target: 0 };
    let end = at;
    while (
      end < sentences.length &&
      (end === at || ['source', 'target'].every((side) => size[side] + sentences[end][side] <= PART))
    ) {
      for (const side of ['source', 'target']) size[side] += sentences[end][side];
      ++end;
    }
    out.push(part(picture, { ...offset }, size, at, sentences.slice(at, end)));
    for (const side of ['source', 'target']) offset[side] += size[side];
    at = end;
  }
  return out;
}

// The beam search of a part: the descendants of the node before its first token, up to the next part. The best
// hypothesis has a node for each target token, after a root.
export function beamOfPart(beam, { offset, target }) {
  if (!beam || !beam.nodes.length) return beam;
  const root = beam.best[offset.target];
  const end = beam.best[offset.target + target.length];
  const inside = new Set([root]);
  const nodes = beam.nodes.filter((node) => {
    if (node.id !== root && (!inside.has(node.parent) || node.parent === end)) return false;
    inside.add(node.id);
    return true;
  });
  return {
    nodes: nodes.map((node) => (node.id === root ? { ...node, parent: -1 } : node)),
    best: beam.best.slice(offset.target, offset.target + target.length + 1),
  };
}

function part(picture, offset, size, line, sentences) {
  const range = (side) => [offset[side], offset[side] + size[side]];
  const rows = (largest, [q0, q1], [k0]) => ({
    index: largest.index.slice(q0, q1).map((keys) => keys.map((key) => key - k0)),
    weight: largest.weight.slice(q0, q1),
  });
  const sides = { cross: ['target', 'source'], encoder: ['source', 'source'], decoder: ['target', 'target'] };
  const once = (make) => {
    let value;
    return () => (value = value || make());
  };
  const maps = once(() =>
    picture.attention.map((map) => {
      const [queries, keys] = sides[map.kind || 'cross'].map(range);
      return {
        ...map,
        queries: map.queries.slice(...queries),
        keys: map.keys.slice(...keys),
        largest: rows(map.largest, queries, keys),
      };
    }),
  );
  const source = picture.source.slice(...range('source'));
  const target = picture.target.slice(...range('target'));
  const mean = once(() => rows(picture.largest, range('target'), range('source')));
  return {
    offset,
    line,
    sentences,
    source,
    target,
    title: `${offset.source + 1}–${offset.source + size.source} / ${picture.source.length}: ${joinTokens(source)}`,
    get largest() {
      return mean();
    },
    get attention() {
      return maps();
    },
  };
}
