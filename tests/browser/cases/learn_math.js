// The course's arithmetic in the page gives what the library gives: fovea attend on the same numbers, forward and backward.
'use strict';
const fs = require('fs');
const path = require('path');
const { execFileSync } = require('child_process');
exports.serverOptions = () => ['--learn'];

// [1, rows, columns] float32 as .npy, and back.
function writeNpy(file, shape, values) {
  let head = `{'descr': '<f4', 'fortran_order': False, 'shape': (${shape.join(', ')},), }`;
  head += ' '.repeat(63 - ((10 + head.length) % 64)) + '\n';
  const start = Buffer.from([0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 1, 0, head.length & 255, head.length >> 8]);
  fs.writeFileSync(file, Buffer.concat([start, Buffer.from(head, 'latin1'), Buffer.from(Float32Array.from(values).buffer)]));
}
function floats(bytes) { return [...new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length))]; }
function readNpy(file) { const all = fs.readFileSync(file); return floats(all.subarray(10 + all.readUInt16LE(8))); }
function writeSafetensors(file, tensors) {
  const head = {};
  let at = 0;
  for (const [name, { shape, values }] of Object.entries(tensors)) { head[name] = { dtype: 'F32', shape, data_offsets: [at, at + 4 * values.length] }; at += 4 * values.length; }
  const text = Buffer.from(JSON.stringify(head));
  const size = Buffer.alloc(8);
  size.writeBigUInt64LE(BigInt(text.length));
  fs.writeFileSync(file, Buffer.concat([size, text, ...Object.values(tensors).map(({ values }) => Buffer.from(Float32Array.from(values).buffer))]));
}
function readSafetensors(file) {
  const all = fs.readFileSync(file);
  const size = Number(all.readBigUInt64LE(0));
  const head = JSON.parse(all.subarray(8, 8 + size));
  return Object.fromEntries(Object.entries(head).filter(([name]) => name !== '__metadata__').map(([name, one]) => [name, floats(all.subarray(8 + size + one.data_offsets[0], 8 + size + one.data_offsets[1]))]));
}

exports['scores, weights, context and gradients are the library’s'] = async ({ check, build, fovea }) => {
  const { attend, backward, normals } = await import('../../../web/course/math.js');
  const folder = fs.mkdtempSync(path.join(build, 'math-'));
  const at = (name) => path.join(folder, name);
  const near = (a, b, what) => { check.strictEqual(a.length, b.length, what); a.forEach((x, i) => check.ok(Math.abs(x - b[i]) < 2e-5 * Math.max(1, Math.abs(b[i])), `${what}[${i}]: ${x} is not ${b[i]}`)); };
  try {
    for (const kind of ['dot', 'scaled-dot', 'general', 'additive', 'cosine']) {
      for (const [keys, width] of [[1, 2], [3, 2], [5, 7]]) {
        // The page makes the numbers up and computes; the library computes the same.
        const normal = normals(keys * 100 + width);
        const vector = () => Array.from({ length: width }, () => Math.fround(normal()));
        const matrix = () => Array.from({ length: width }, vector);
        const q = vector(), K = Array.from({ length: keys }, vector), V = Array.from({ length: keys }, vector), dc = vector();
        const more = { W: matrix(), U: matrix(), v: vector() };
        const got = { q, K, V, dc, more, ...attend(kind, q, K, V, more), grads: backward(q, K, V, dc) };
        writeNpy(at('q.npy'), [1, 1, width], got.q);
        writeNpy(at('k.npy'), [1, keys, width], got.K.flat());
        writeNpy(at('v.npy'), [1, keys, width], got.V.flat());
        writeNpy(at('d.npy'), [1, 1, width], got.dc);
        const square = { shape: [width, width] };
        const parameters = { general: { W: { ...square, values: got.more.W.flat() } }, additive: { W: { ...square, values: got.more.W.flat() }, U: { ...square, values: got.more.U.flat() }, v: { shape: [width], values: got.more.v } } }[kind];
        if (parameters) writeSafetensors(at('p.safetensors'), parameters);
        execFileSync(fovea, ['attend', '--query', at('q.npy'), '--key', at('k.npy'), '--value', at('v.npy'), '--score', kind, ...(parameters ? ['--params', at('p.safetensors')] : []),
          '--out', at('c.npy'), '--weights', at('w.npy'), '--grad', at('d.npy'), '--grads', at('g.safetensors')]);
        near(got.weights, readNpy(at('w.npy')), `${kind} weights`);
        near(got.context, readNpy(at('c.npy')), `${kind} context`);
        if (kind !== 'scaled-dot') continue;
        const grads = readSafetensors(at('g.safetensors'));
        near(got.grads.query, grads.query, 'dL/dq');
        near(got.grads.key.flat(), grads.key, 'dL/dk');
        near(got.grads.value.flat(), grads.value, 'dL/dv');
      }
    }
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
};
