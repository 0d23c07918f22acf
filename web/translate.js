// A translation and what it attended to: Fovea.translating(owner) is what an asker runs. It asks for the translation, then
// for every layer and head.
//   owner: answer(request, reply), attention(request, reply or null, how many of each token's largest weights it has, or 0
//   for all), trouble(kind, error)
(function () {
  'use strict';
  const ALTERNATIVES = 3;
  Fovea.beamWidth = 5; // the server says its own
  const NUMBERS = 12e6; // weights of all heads that the page fetches at most
  const LARGEST = 8; // of each token, where all would be too many
  const KINDS = 3; // of attention, at most

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

  Fovea.translating = (owner) => async function (request, signal, came) {
    const fields = { q: request.text, source: request.source, target: request.target, merge_words: request.words };
    const answer = await translate({ ...fields, format: 'text', alternatives: ALTERNATIVES }, request.attention, signal);
    if (signal.aborted) return;
    came();
    owner.answer(request, answer);
    const size = answer.attention ? answer.attention.source.length * answer.attention.target.length : 0;
    const many = request.long || size * request.heads > NUMBERS;
    const tokens = answer.attention ? Math.max(answer.attention.source.length, answer.attention.target.length) : request.text.length;
    const top = Math.max(1, Math.min(LARGEST, Math.floor(NUMBERS / (2 * KINDS * tokens * request.heads))));
    if (!request.showable || (request.attention && !answer.attention && !many)) { owner.attention(request, null); return; }
    if (answer.detectedLanguage) fields.source = answer.detectedLanguage.language;
    try {
      const all = await Fovea.api.attention({
        ...fields, beam: Fovea.beamWidth, kind: 'all', interventions: request.interventions || [],
        ...(many ? { top, merge_words: false } : { output: request.output || '' }),
      }, signal);
      if (!signal.aborted) owner.attention(request, all, many ? top : 0);
    } catch (error) {
      if (error.name === 'AbortError' || signal.aborted) return;
      owner.attention(request, null);
      if (error.kind === 'gone') throw error;
      owner.trouble('heads', error);
    }
  };
})();
