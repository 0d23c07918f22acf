// Asks the server while the reader types. createAsker({ run, busy, trouble, connection }) returns
//   ask(request, delay)  asks after `delay` milliseconds; null: there is nothing to ask
//   typed(request)       asks when the reader pauses; the faster the server answers, the sooner
// run(request, signal, came) sends the requests and calls came() with the first answer. A new request aborts the one
// before, so that an outdated answer is never shown. Failures go to trouble(kind, error); a busy server is asked
// again.
export function createAsker({ run, busy, trouble, connection }) {
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
    if (connection.away) {
      connection.soon(Boolean(request));
      return;
    }
    if (!request) {
      trouble(null);
      return;
    }
    timer = setTimeout(() => start(request, signal), delay);
  }

  async function start(request, signal) {
    busy(true);
    const began = performance.now();
    try {
      await run(request, signal, () => {
        took = performance.now() - began;
        connection.came();
        trouble(null);
      });
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
}
