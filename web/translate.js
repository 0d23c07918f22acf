// Translating as one types: Fovea.translator(owner). ask(request, delay) waits until the writer pauses, asks for the
// translation, then for every layer and head; an answer to an older text is never shown. Trouble is reported to the owner,
// and what can pass (a busy server, one that went away) is tried again by itself.
//   owner: answer(request, reply), attention(request, reply), trouble(kind, error) or trouble(null) when it is over,
//   busy(bool), connect() asks what the server is, again() asks for the text as it stands
(function () {
  'use strict';
  const ALTERNATIVES = 3;
  Fovea.beamWidth = 5; // the server says its own
  const NUMBERS = 12e6; // weights of all heads that the page fetches at most

  Fovea.translator = function (owner) {
    let control = new AbortController();
    let timer = 0;
    let wanted = null;
    let wait = 1000;
    let away = false;

    function stop() {
      clearTimeout(timer);
      control.abort();
      control = new AbortController();
      return control.signal;
    }

    function ask(request, delay) {
      const signal = stop();
      wanted = request;
      owner.busy(false);
      if (away) { timer = setTimeout(reconnect, request ? 300 : wait); return; }
      if (!request) { owner.trouble(null); return; }
      timer = setTimeout(() => run(request, signal), delay);
    }

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

    async function run(request, signal) {
      owner.busy(true);
      const fields = { q: request.text, source: request.source, target: request.target, merge_words: request.words };
      try {
        const answer = await translate({ ...fields, format: 'text', alternatives: ALTERNATIVES }, request.attention, signal);
        if (signal.aborted) return;
        wait = 1000;
        owner.trouble(null);
        owner.answer(request, answer);
        const size = answer.attention ? answer.attention.source.length * answer.attention.target.length : 0;
        if (!request.small || (request.attention && !answer.attention) || size * request.heads > NUMBERS) { owner.attention(request, null); return; }
        if (answer.detectedLanguage) fields.source = answer.detectedLanguage.language;
        try {
          const all = await Fovea.api.attention({ ...fields, beam: Fovea.beamWidth }, signal);
          if (!signal.aborted) owner.attention(request, all);
        } catch (error) {
          if (error.name === 'AbortError' || signal.aborted) return;
          owner.attention(request, null);
          if (error.kind === 'gone') throw error;
          owner.trouble('heads', error);
        }
      } catch (error) {
        if (error.name === 'AbortError' || signal.aborted) return;
        failed(error);
      } finally {
        if (!signal.aborted) owner.busy(false);
      }
    }

    function failed(error) {
      if (!error.kind) throw error;
      owner.trouble(error.kind, error);
      clearTimeout(timer);
      if (error.kind === 'busy') timer = setTimeout(() => ask(wanted, 0), error.after * 1000);
      if (error.kind === 'gone') { away = true; timer = setTimeout(reconnect, wait); }
    }

    // Asks until there is an answer, more and more seldom; then goes on with the text as it stands.
    async function reconnect() {
      clearTimeout(timer);
      try {
        await owner.connect();
        const again = away;
        away = false;
        wait = 1000;
        owner.trouble(again ? 'back' : null);
        owner.again();
      } catch (error) {
        if (!error.kind) throw error;
        away = true;
        owner.trouble(error.kind, error);
        wait = Math.min(10000, wait * 1.6);
        timer = setTimeout(reconnect, wait);
      }
    }
    return { ask, reconnect };
  };
})();
