// compare.js FOLDER…: runs encoder.onnx and decoder.onnx of each folder on what case.json there holds and compares the
// logits with its own. Ends with 1 where they differ by 1e-4.
'use strict';
const fs = require('fs');
const path = require('path');
const ort = require('onnxruntime-node');

const ids = (values, shape) => new ort.Tensor('int64', BigInt64Array.from(values.map(BigInt)), shape);

async function worst(folder) {
  const given = JSON.parse(fs.readFileSync(path.join(folder, 'case.json')));
  const options = { intraOpNumThreads: 1, logSeverityLevel: 3 };
  const encoder = await ort.InferenceSession.create(path.join(folder, 'encoder.onnx'), options);
  const decoder = await ort.InferenceSession.create(path.join(folder, 'decoder.onnx'), options);
  const batch = given.lengths.length;
  const source = ids(given.source, [batch, given.source.length / batch]);
  const target = ids(given.target, [batch, given.target.length / batch]);
  const lengths = ids(given.lengths, [batch]);
  const memory = await encoder.run({ source, lengths });
  const { logits } = await decoder.run({ target, lengths, ...memory });
  if (logits.data.length !== given.logits.length) throw new Error(`${logits.data.length} logits, not ${given.logits.length}`);
  let most = 0;
  given.logits.forEach((value, i) => {
    // What is never written has a bias that drowns the rest.
    const difference = value < -1e8 ? 0 : Math.abs(value - logits.data[i]);
    if (!(difference <= most)) most = difference; // also where it is no number
  });
  return most;
}

(async () => {
  let failed = false;
  for (const folder of process.argv.slice(2)) {
    const most = await worst(folder);
    console.log(`${path.basename(folder)}: largest difference of a logit ${most.toExponential(1)}`);
    if (!(most < 1e-4)) failed = true;
  }
  process.exit(failed ? 1 : 0);
})().catch((error) => {
  console.error(error);
  process.exit(1);
});
