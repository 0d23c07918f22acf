// A translation and what it attended to: Fovea.translating(owner) is what an asker runs. It asks for the translation, then
// for every layer and head.
//   owner: answer(request, reply), attention(request, reply or null), trouble(kind, error)
(function () {
  'use strict';
  const ALTERNATIVES = 3;
  Fovea.beamWidth = 5; // the server says its own
  const NUMBERS = 12e6; // weights of all heads that the page fetches at most
  const LARGEST = 8; // of each token, where all would be too many
  const CELLS = 2.5e6; // of a map that the page can draw

  // With attention if it may be; a text whose attention is too much for the server has its translation alone.
  async function translate(fields, attention, signal) {
    if (!attention) return Fovea.api.translate(fields, signal);
    try {
      return await Fovea.api.translate({ ...fields, attention: true }, signal);
    } catch (error) {
      if (error.kind !== 'refused' || signal.aborted) throw error;
      return Fovea.api.translate(fields, signal);
    }
  }

  const waits = (request) => Boolean(request.words || request.output);
  Fovea.translating = (owner) => async function (request, signal, came) {
    const fields = { q: request.text, source: request.source, target: request.target, merge_words: request.words };
    const answer = await translate({ ...fields, format: 'text', alternatives: ALTERNATIVES }, request.attention, signal);
    if (signal.aborted) return;
    came();
    owner.answer(request, answer);
    const size = answer.attention ? answer.attention.source.length * answer.attention.target.length : 0;
    const many = size * request.heads > NUMBERS;
    if (!request.small || (request.attention && !answer.attention) || (many && (size > CELLS || waits(request)))) { owner.attention(request, null); return; }
    if (answer.detectedLanguage) fields.source = answer.detectedLanguage.language;
    try {
      const all = await Fovea.api.attention({
        ...fields, beam: Fovea.beamWidth, kind: 'all', interventions: request.interventions || [], output: request.output || '', ...(many ? { top: LARGEST } : {}),
      }, signal);
      if (!signal.aborted) owner.attention(request, all);
    } catch (error) {
      if (error.name === 'AbortError' || signal.aborted) return;
      owner.attention(request, null);
      if (error.kind === 'gone') throw error;
      owner.trouble('heads', error);
    }
  };
})();
