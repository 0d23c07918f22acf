// Numbers and tokens, before anything is drawn: a matrix of weights as one flat array, means over heads, the names tokens
// go by, where a token stands in its text.
(function () {
  'use strict';

  // {rows, columns, values}; from rows of numbers, or as it is when it is one already.
  Fovea.grid = function (weights) {
    if (!Array.isArray(weights)) return weights;
    const rows = weights.length;
    const columns = rows ? weights[0].length : 0;
    const values = new Float32Array(rows * columns);
    weights.forEach((row, t) => values.set(row, t * columns));
    return { rows, columns, values };
  };
  Fovea.row = (grid, t) => grid.values.subarray(t * grid.columns, (t + 1) * grid.columns);
  Fovea.column = (grid, s) => Float32Array.from({ length: grid.rows }, (_, t) => grid.values[t * grid.columns + s]);
  Fovea.meanOf = function (grids) {
    const sum = new Float32Array(grids[0].values.length);
    for (const grid of grids) for (let i = 0; i < sum.length; ++i) sum[i] += grid.values[i];
    return { rows: grids[0].rows, columns: grids[0].columns, values: sum.map((x) => x / grids.length) };
  };
  Fovea.argmax = (list) => list.reduce((best, w, i) => (w > list[best] ? i : best), 0);
  Fovea.strongest = (list, count, least) =>
    Array.from(list.keys()).filter((i) => list[i] >= least).sort((a, b) => list[b] - list[a]).slice(0, count);
  Fovea.percent = (w) => (w >= 0.0995 ? Math.round(w * 100) + '%' : w >= 0.0005 ? (w * 100).toFixed(1) + '%' : '0%');

  // The heads of a picture one by one: those of the target's attention to the source, where it has some.
  Fovea.mapsOf = function (picture) {
    const all = picture.attention || [];
    const cross = all.filter((one) => one.kind === 'cross');
    return cross.length > 0 ? cross : all;
  };

  // The kinds of attention a picture has: target to source first.
  Fovea.kindsOf = function (picture) {
    const kinds = [...new Set((picture.attention || []).map((one) => one.kind || 'cross'))];
    const order = ['cross', 'encoder', 'decoder'];
    const place = (kind) => (order.includes(kind) ? order.indexOf(kind) : order.length);
    return kinds.sort((a, b) => place(a) - place(b));
  };
  // The same picture of one kind: keys above, queries below, the mean of its heads.
  Fovea.ofKind = function (picture, kind) {
    const maps = (picture.attention || []).filter((one) => (one.kind || 'cross') === kind);
    if (!kind || !maps.length || (kind === 'cross' && (picture.largest || (picture.weights && picture.weights.length !== 0)))) return picture;
    return { ...picture, kind, source: maps[0].keys || picture.source, target: maps[0].queries || picture.target, weights: meanOfMaps(maps), largest: undefined, attention: maps };
  };
  // All weights of a map that lists the largest of each query only.
  Fovea.dense = (map) => (map.largest ? listed([map]) : map.weights);
  function listed(maps) {
    const columns = (maps[0].keys || maps[0].source).length;
    const values = new Float32Array(maps[0].largest.index.length * columns);
    for (const { largest } of maps) {
      largest.index.forEach((keys, r) => keys.forEach((key, n) => { values[r * columns + key] += largest.weight[r][n] / maps.length; }));
    }
    return { rows: maps[0].largest.index.length, columns, values };
  }
  // The mean of heads; of listed weights without a whole matrix for each.
  const meanOfMaps = (maps) => (maps.every((one) => one.largest) ? listed(maps) : Fovea.meanOf(maps.map((one) => Fovea.grid(Fovea.dense(one)))));

  // The weights to show: the mean of the heads that match; with no choice, the picture's own.
  Fovea.chosen = function (picture, layer, head) {
    const any = (x) => x === '' || x === undefined || x === null;
    const matching = Fovea.mapsOf(picture).filter((one) =>
      (any(layer) || one.layer === Number(layer)) && (any(head) || one.head === Number(head)));
    if ((any(layer) && any(head)) || matching.length === 0) return Fovea.grid(Fovea.dense(picture));
    return matching.length === 1 ? Fovea.grid(Fovea.dense(matching[0])) : meanOfMaps(matching);
  };

  // What an active token lights on the other side: {source, target}, each null or weights. A cell {t, s} lights as its row.
  Fovea.shares = function (weights, active) {
    if (!active || !weights) return { source: null, target: null };
    if (active.side === 'source') return { source: null, target: Fovea.column(weights, active.i) };
    return { source: Fovea.row(weights, active.side === 'target' ? active.i : active.t), target: null };
  };

  // --- what a token is called -----------------------------------------------------------------------------------
  const special = (token) => token === '</s>' || token === '<s>' || token === '<pad>';
  const pieced = (tokens) => tokens.some((token) => token.startsWith('▁'));
  // Names for the axes and rows: a piece's word boundary is not shown, its going on is (when pieces are longer than
  // characters); the end of the sentence is a word of the page, in brackets.
  const named = new WeakMap();
  Fovea.names = function (tokens) {
    const known = named.get(tokens);
    if (known && known.language === Fovea.language) return known.names;
    const names = rename(tokens);
    named.set(tokens, { language: Fovea.language, names });
    return names;
  };
  function rename(tokens) {
    const pieces = pieced(tokens);
    const characters = tokens.every((token) => special(token) || [...token].length <= 1);
    return tokens.map((token, i) => {
      if (token === '</s>') return `‹${Fovea.words.end}›`;
      if (token === '<s>') return `‹${i > 0 ? Fovea.words.turn : Fovea.words.start}›`; // between the turns of a conversation
      if (token === '<unk>') return `‹${Fovea.words.unknown}›`;
      const plain = token.replace(/^▁/, '');
      if (plain.trim() === '') return '␣';
      return pieces && !characters && i > 0 && !token.startsWith('▁') && /[\p{L}\p{N}]/u.test(plain) ? '·' + plain : plain;
    });
  }
  // Whether a target token was rather copied than generated.
  Fovea.isCopied = (picture, t) => Boolean(picture.copied && picture.copied[t] >= 0.5);
  Fovea.special = (token) => special(token) || token === '<unk>';
  // Tokens as the sentence they came from: characters and SentencePiece's pieces join without spaces.
  Fovea.sentence = function (all) {
    const tokens = all.filter((token) => !special(token));
    if (pieced(tokens)) return tokens.join('').replaceAll('▁', ' ').trim();
    return tokens.join(tokens.every((token) => [...token].length === 1) ? '' : ' ');
  };

  // Where each token stands in a text: [from, to] or null. Tokenizers fold width, case and spaces, so both sides are
  // folded before they are compared; a token that is not found leaves the place to the next one.
  const fold = (text) => text.normalize('NFKC').toLowerCase().replace(/[\s▁]+/g, '');
  Fovea.places = function (tokens, text) {
    if (!tokens.length) return [];
    let folded = '';
    const from = [];
    const to = [];
    for (let at = 0; at < text.length;) {
      const letter = String.fromCodePoint(text.codePointAt(at));
      for (const unit of fold(letter).split('')) { folded += unit; from.push(at); to.push(at + letter.length); }
      at += letter.length;
    }
    let at = 0;
    return tokens.map((token) => {
      const wanted = Fovea.special(token) ? '' : fold(token);
      if (wanted === '') return null;
      const found = at + folded.slice(at, at + 60 + wanted.length).indexOf(wanted); // not through all of a long text
      if (found < at) return null;
      at = found + wanted.length;
      return [from[found], to[at - 1]];
    });
  };
})();
