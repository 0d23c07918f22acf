// The requests of the page to the server. They return promises; a failure is a Trouble: its kind is gone (no
// answer), busy (429; `after` is the number of seconds to wait), key (403), refused (the request was wrong) or
// failed (an error of the server), its text is the error message of the server.
class Trouble extends Error {
  constructor(kind, text, after) {
    super(text);
    Object.assign(this, { kind, text, after });
  }
}
const troubleOf = (status, text, after) =>
  new Trouble(
    status === 429
      ? 'busy'
      : status === 403
        ? 'key'
        : status === 0 || status === 502 || status === 503 || status === 504
          ? 'gone'
          : status >= 500
            ? 'failed'
            : 'refused',
    text || String(status),
    Math.max(1, Number(after) || 2),
  );

async function ask(path, init) {
  let response;
  let body = null;
  try {
    response = await fetch(path, init);
    body = await response.json();
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    throw response && !(error instanceof TypeError)
      ? troubleOf(response.status, response.statusText)
      : troubleOf(0, String(error.message));
  }
  if (!response.ok) throw troubleOf(response.status, body && body.error, response.headers.get('Retry-After'));
  return body;
}

const post = (path, fields, signal) =>
  ask(path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(api.body(fields)),
    signal,
  });

// Every layer and head of a long text is megabytes of numbers: a worker parses them, so that the page does not stall.
let worker = null;
let count = 0;
const waiting = new Map();
function reader() {
  if (worker) return worker;
  worker = new Worker('assets/reader.js');
  worker.onerror = () => {
    // it could not be loaded: the next question tries again
    worker = null;
    for (const { fail } of waiting.values()) fail(troubleOf(0, ''));
    waiting.clear();
  };
  worker.onmessage = ({ data }) => {
    const { done, fail } = waiting.get(data.id) || {};
    waiting.delete(data.id);
    if (!done) return;
    if (data.answer) done(data.answer);
    else fail(troubleOf(data.status, data.error, data.after));
  };
  return worker;
}

export const api = {
  key: '',
  settings: () => ask('frontend/settings'),
  languages: () => ask('languages'),
  body: (fields) => ({ ...fields, ...(api.key ? { api_key: api.key } : {}) }),
  translate: (fields, signal) => post('translate', fields, signal),
  classify: (fields, signal) => post('classify', fields, signal),
  chat: (fields, signal) => post('chat', fields, signal),
  caption: (fields, signal) => post('caption', fields, signal),
  learn: {
    state: () => ask('learn'),
    train: (fields, signal) => post('learn/train', fields, signal),
    ask: (fields) => post('learn/ask', fields),
  },
  attention: (fields, signal) =>
    new Promise((done, fail) => {
      const id = ++count;
      waiting.set(id, { done, fail });
      signal.addEventListener('abort', () => {
        if (!waiting.delete(id)) return;
        reader().postMessage({ id, abort: true });
        fail(new DOMException('aborted', 'AbortError'));
      });
      reader().postMessage({
        id,
        url: new URL('attention', document.baseURI).href,
        body: JSON.stringify(api.body(fields)),
      });
    }),
};
