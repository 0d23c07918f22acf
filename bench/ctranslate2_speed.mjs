// node ctranslate2_speed.mjs PACKAGE MODEL LINES THREADS: CTranslate2's side of bench/ctranslate2.py, by the npm package ctranslate2.
// Takes the requests that bench/translate_speed.cpp takes.
import fs from 'node:fs';
import readline from 'node:readline';
import { createRequire } from 'node:module';

const [directory, modelPath, file, threads] = process.argv.slice(2);
const { Ct2Translator } = createRequire(import.meta.url)(directory);
const translator = new Ct2Translator({ modelPath, device: 'cpu', threads: Number(threads) });
const lines = fs.readFileSync(file, 'utf8').trimEnd().split('\n');
let at = 0;
for await (const request of readline.createInterface({ input: process.stdin })) {
  const [first, beam, last] = request.split(' ');
  const options = (size) => ({ beamSize: Number(beam), maxBatchSize: size, returnScores: false });
  if (first === 'write') {
    const outputs = await translator.translateBatch(lines, options(32));
    fs.writeFileSync(last, outputs.map((one) => `${one.text}\n`).join(''));
    console.log(0);
    continue;
  }
  const batch = Number(first);
  const start = process.hrtime.bigint();
  const passed = () => Number(process.hrtime.bigint() - start) * 1e-9;
  let done = 0;
  do {
    if (at + batch > lines.length) at = 0;
    await translator.translateBatch(lines.slice(at, at + batch), options(batch));
    at += batch;
    done += batch;
  } while (passed() < Number(last));
  console.log(done / passed());
}
