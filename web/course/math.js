// The arithmetic of the course: the formulas of the library, which a test compares
// (tests/browser/cases/learn_math.js). Vectors are arrays, matrices arrays of rows.
const dot = (a, b) => a.reduce((sum, x, i) => sum + x * b[i], 0);
const times = (matrix, v) => matrix.map((row) => dot(row, v));
const norm = (a) => Math.max(Math.sqrt(dot(a, a)), 1e-8);

// The score of a query and a key. More: { W } of general, { W, U, v } of additive.
const scores = {
  dot: (q, k) => dot(q, k),
  'scaled-dot': (q, k) => dot(q, k) / Math.sqrt(q.length),
  general: (q, k, { W }) => dot(q, times(W, k)),
  additive: (q, k, { W, U, v }) =>
    dot(
      v,
      times(W, q).map((x, i) => Math.tanh(x + times(U, k)[i])),
    ),
  cosine: (q, k) => dot(q, k) / (norm(q) * norm(k)),
};

// The largest score is subtracted first, so that nothing overflows.
function softmax(list) {
  const most = Math.max(...list);
  const powers = list.map((s) => Math.exp(s - most));
  const sum = powers.reduce((a, b) => a + b, 0);
  return powers.map((p) => p / sum);
}
const weighted = (weights, values) => values[0].map((_, d) => weights.reduce((sum, w, j) => sum + w * values[j][d], 0));

// One query: { scores, weights, context }.
function attend(kind, q, keys, values, more) {
  const list = keys.map((k) => scores[kind](q, k, more));
  const weights = softmax(list);
  return { scores: list, weights, context: weighted(weights, values) };
}

// The backward pass of scaled dot-product attention, given dL/dcontext:
//   dw_j = dc . v_j    ds_j = w_j (dw_j - sum_k w_k dw_k)    dq = sum_j ds_j k_j / sqrt(d)
//   dk_j = ds_j q / sqrt(d)    dv_j = w_j dc
function backward(q, keys, values, dcontext) {
  const { weights } = attend('scaled-dot', q, keys, values);
  const root = Math.sqrt(q.length);
  const dweights = values.map((v) => dot(dcontext, v));
  const mean = dot(weights, dweights);
  const dscores = weights.map((w, j) => w * (dweights[j] - mean));
  return {
    dweights,
    dscores,
    query: q.map((_, d) => dscores.reduce((sum, ds, j) => sum + ds * keys[j][d], 0) / root),
    key: dscores.map((ds) => q.map((x) => (ds * x) / root)),
    value: weights.map((w) => dcontext.map((x) => w * x)),
  };
}

// Numbers with mean 0 and variance 1, the same from the same seed (mulberry32, and Box and Muller's way to a normal).
function normals(seed) {
  let state = seed >>> 0;
  const uniform = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  return () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());
}
const deviation = (list) => {
  const mean = list.reduce((a, b) => a + b, 0) / list.length;
  return Math.sqrt(list.reduce((sum, x) => sum + (x - mean) ** 2, 0) / list.length);
};

export { dot, scores, softmax, weighted, attend, backward, normals, deviation };
