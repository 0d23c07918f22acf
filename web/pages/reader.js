// The worker that requests the attention of a text and returns its weights as flat arrays.
'use strict';
const asked = new Map();

function flat(matrix, into, at) {
  for (const row of matrix) {
    into.set(row, at);
    at += row.length;
  }
  return at;
}

self.onmessage = async ({ data: { id, url, body, abort } }) => {
  if (abort) {
    if (asked.has(id)) asked.get(id).abort();
    return;
  }
  const control = new AbortController();
  asked.set(id, control);
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body,
      signal: control.signal,
    });
    const answer = await response.json();
    if (!response.ok) {
      self.postMessage({
        id,
        status: response.status,
        error: answer.error,
        after: response.headers.get('Retry-After'),
      });
      return;
    }
    const moved = [];
    const grid = (matrix) => {
      const rows = matrix.length;
      const columns = rows ? matrix[0].length : 0;
      const values = new Float32Array(rows * columns);
      flat(matrix, values, 0);
      moved.push(values.buffer);
      return { rows, columns, values };
    };
    const attention = (answer.attention || []).map((one) =>
      one.weights ? { ...one, weights: grid(one.weights) } : one,
    );
    const mean = answer.weights ? { weights: grid(answer.weights) } : { largest: answer.largest };
    delete answer.weights;
    delete answer.largest;
    delete answer.attention;
    self.postMessage(
      {
        id,
        answer: {
          ...answer,
          picture: { source: answer.source, target: answer.target, sentences: answer.sentences, ...mean, attention },
        },
      },
      moved,
    );
  } catch (error) {
    if (error.name !== 'AbortError')
      self.postMessage({ id, status: error instanceof TypeError ? 0 : 500, error: String(error.message) });
  } finally {
    asked.delete(id);
  }
};
