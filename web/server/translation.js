// A translation and its attention. translating(owner) returns the function that an asker runs: it asks for the
// translation, then for the attention of every layer and head. owner has
//   answer(request, reply)           receives the translation
//   attention(request, reply, top)   receives the attention, or null; top: how many weights of each token the reply
//                                    lists,
//                                    0 for all
//   trouble(kind, error)
import { api } from './api.js';

// Bytes of a text: the server gives all weights of so many, and the largest of each token of so many.
export const ALL = 8000;
export const LISTED = 64000;
const ALTERNATIVES = 3;
export const searchOptions = { beamWidth: 5 }; // the server says its own
const NUMBERS = 12e6; // weights of all heads that the page fetches at most
const LARGEST = 8; // of each token, where all would be too many
const KINDS = 3; // of attention, at most

// With attention if it may be; a text whose attention is too much for the server has its translation alone.
async function translate(fields, attention, signal) {
  if (!attention) return api.translate(fields, signal);
  try {
    return await api.translate({ ...fields, attention: true }, signal);
  } catch (error) {
    if (error.kind !== 'refused' || signal.aborted) throw error;
    return api.translate(fields, signal);
  }
}

export const translating = (owner) =>
  async function (request, signal, came) {
    const fields = { q: request.text, source: request.source, target: request.target, merge_words: request.words };
    const answer = await translate(
      { ...fields, format: 'text', alternatives: ALTERNATIVES },
      request.attention,
      signal,
    );
    if (signal.aborted) return;
    came();
    owner.answer(request, answer);
    const size = answer.attention ? answer.attention.source.length * answer.attention.target.length : 0;
    const many = request.long || size * request.heads > NUMBERS;
    const tokens = answer.attention
      ? Math.max(answer.attention.source.length, answer.attention.target.length)
      : request.text.length;
    const top = Math.max(1, Math.min(LARGEST, Math.floor(NUMBERS / (2 * KINDS * tokens * request.heads))));
    if (!request.showable || (request.attention && !answer.attention && !many)) {
      owner.attention(request, null);
      return;
    }
    if (answer.detectedLanguage) fields.source = answer.detectedLanguage.language;
    try {
      const all = await api.attention(
        {
          ...fields,
          beam: searchOptions.beamWidth,
          kind: 'all',
          interventions: request.interventions || [],
          ...(many ? { top, merge_words: false } : { output: request.output || '' }),
        },
        signal,
      );
      if (!signal.aborted) owner.attention(request, all, many ? top : 0);
    } catch (error) {
      if (error.name === 'AbortError' || signal.aborted) return;
      owner.attention(request, null);
      if (error.kind === 'gone') throw error;
      owner.trouble('heads', error);
    }
  };
