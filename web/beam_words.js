// A beam of pieces as a beam of words: Fovea.beamOfWords(beam). Pieces that go on with a word are joined to it; a piece
// after which one hypothesis goes on with the word and another begins the next one becomes two words. Hypotheses that were
// dropped in the middle of a word are left out: nobody knows what the word would have been.
(function () {
  'use strict';
  const text = (token) => (token || '').replaceAll('▁', '');
  // Marks, and scripts that write no spaces, stand by themselves.
  const alone = (token) => !/^[\p{L}\p{N}\p{M}]/u.test(text(token)) || /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u.test(text(token));
  const goesOn = (token) => Boolean(token) && !token.startsWith('▁') && !Fovea.special(token) && !alone(token);

  Fovea.beamOfWords = function (beam) {
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
      const open = Boolean(token) && !Fovea.special(last.token) && !alone(last.token);
      const longer = next.filter((node) => open && goesOn(node.token));
      for (const node of longer) rest.push({ last: node, before: token, up });
      const after = next.filter((node) => !longer.includes(node));
      const dropped = !next.length && !last.finished && !best.has(last.id) && open;
      if (dropped || (longer.length && !after.length)) continue; // no word ends here
      const id = nodes.length;
      nodes.push({ ...last, id, parent: up, token, ...(Fovea.special(last.token) ? {} : { word: text(token) }) });
      if (best.has(last.id) && !longer.some((node) => best.has(node.id))) path.push(id);
      for (const node of after) rest.push({ last: node, before: '', up: id });
    }
    return { nodes, best: path };
  };
})();
