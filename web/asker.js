// Asking as one types: Fovea.asker({ run, busy, trouble, connection }). ask(request, delay) waits until the writer pauses
// (typed(request): the shorter, the sooner the server answers), then calls run(request, signal, came), which asks the server and calls came() with its first answer; an older question
// is aborted, so that its answer is never shown. Trouble is reported, and what can pass (a busy server, one that went
// away) is tried again by itself.
(function () {
  'use strict';
  Fovea.asker = function ({ run, busy, trouble, connection }) {
    let control = new AbortController();
    let timer = 0;
    let wanted = null;
    let took = 60; // milliseconds to the last first answer

    function stop() {
      clearTimeout(timer);
      control.abort();
      control = new AbortController();
      return control.signal;
    }

    function ask(request, delay) {
      const signal = stop();
      wanted = request;
      busy(false);
      if (connection.away) { connection.soon(Boolean(request)); return; }
      if (!request) { trouble(null); return; }
      timer = setTimeout(() => start(request, signal), delay);
    }

    async function start(request, signal) {
      busy(true);
      const began = performance.now();
      try {
        await run(request, signal, () => { took = performance.now() - began; connection.came(); trouble(null); });
      } catch (error) {
        if (error.name === 'AbortError' || signal.aborted) return;
        if (!error.kind) throw error;
        trouble(error.kind, error);
        clearTimeout(timer);
        if (error.kind === 'busy') timer = setTimeout(() => ask(wanted, 0), error.after * 1000);
        if (error.kind === 'gone') connection.lost();
      } finally {
        if (!signal.aborted) busy(false);
      }
    }
    return { ask, typed: (request) => ask(request, Math.max(15, Math.min(180, took / 3))) };
  };
})();
