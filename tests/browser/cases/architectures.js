// Every kind of attention of every architecture: the command line, the server and the page show the same numbers, and
// `fovea explain --model` those of the run.
'use strict';
const fs = require('fs');
const path = require('path');
const { execFileSync } = require('child_process');
const SENTENCE = 'a man sees the house';
// Each under languages of its own; what it has to show.
const MODELS = [
  { folder: 'model', to: 'de', kinds: ['cross', 'encoder', 'decoder'], maps: 24 },
  { folder: 'bahdanau', to: 'fr', kinds: ['cross'], maps: 1 },
  { folder: 'luong', to: 'es', kinds: ['cross'], maps: 1 },
  { folder: 'cnn', to: 'it', kinds: ['cross'], maps: 4 },
];
const key = (map) => `${map.kind} ${map.layer} ${map.head}`;

// The tensors of a safetensors file, by name.
function tensors(file) {
  const bytes = fs.readFileSync(file);
  const size = Number(bytes.readBigUInt64LE(0));
  return Object.fromEntries(Object.entries(JSON.parse(bytes.subarray(8, 8 + size))).filter(([name]) => name !== '__metadata__').map(([name, one]) => {
    const part = bytes.subarray(8 + size + one.data_offsets[0], 8 + size + one.data_offsets[1]);
    return [name, { shape: one.shape, values: Array.from({ length: part.length / 4 }, (_, i) => part.readFloatLE(4 * i)) }];
  }));
}
const near = (check, a, b, most, what) => a.forEach((row, r) => row.forEach((w, c) => check.ok(Math.abs(w - b[r][c]) <= most, `${what} [${r}, ${c}]: ${w} and ${b[r][c]}`)));

module.exports = { serverOptions: (build) => [...MODELS.slice(1).flatMap(({ folder, to }) => ['--model', `en-${to}=${path.join(build, folder)}`]), '--model', `en-nl=${path.join(build, 'plain')}`] };

for (const { folder, to, kinds, maps } of MODELS) {
  module.exports[`${folder}: every kind on the command line, from the server and on the page`] = async ({ open, check, build, fovea, url }) => {
    const file = path.join(build, `kinds-${folder}.jsonl`);
    execFileSync(fovea, ['run', '--model', path.join(build, folder), '--attention', file, '--kind', 'all'], { input: SENTENCE + '\n' });
    const run = JSON.parse(fs.readFileSync(file, 'utf8'));
    check.strictEqual(run.attention.length, maps);

    const page = await open(`#text=${encodeURIComponent(SENTENCE)}&from=en&to=${to}`);
    await page.waitForSelector('#search:not([hidden])');
    const ask = (fields) => page.request.post(url + 'attention', { data: { q: SENTENCE, source: 'en', target: to, ...fields } }).then((reply) => reply.json());
    const all = await ask({ kind: 'all' });
    check.deepStrictEqual(all.attention.map(key).sort(), run.attention.map(key).sort());
    for (const map of run.attention) near(check, map.weights, all.attention.find((one) => key(one) === key(map)).weights, 1e-4, `${folder} ${key(map)}`);
    for (const kind of kinds) check.strictEqual((await ask({ kind })).attention.every((one) => one.kind === kind), true, kind);

    const choices = await page.$$eval('.choose-kind option', (list) => list.map((one) => one.value));
    check.deepStrictEqual(choices, kinds);
    for (const kind of kinds) {
      if (kinds.length > 1) await page.selectOption('.choose-kind', kind);
      if (maps > kinds.length) await page.selectOption('.choose-head label:nth-of-type(1) select', '0');
      if (await page.locator('.choose-head label:nth-of-type(2) option').count() > 2) await page.selectOption('.choose-head label:nth-of-type(2) select', '1');
      await page.evaluate(() => { document.querySelector('#attention details').open = true; });
      const head = await page.locator('.choose-head label:nth-of-type(2) option').count() > 2 ? 1 : 0;
      const wanted = run.attention.find((one) => one.kind === kind && one.layer === 0 && one.head === head).weights;
      await page.waitForFunction((rows) => document.querySelectorAll('#attention .weights-table tbody tr').length === rows, wanted.length);
      const shown = await page.$$eval('#attention .weights-table tbody tr', (rows) => rows.map((row) => [...row.querySelectorAll('td')].map((cell) => Number(cell.textContent))));
      near(check, wanted, shown, 6e-4, `${folder} ${kind} on the page`);
    }
  };

  module.exports[`${folder}: explain has the numbers of the run, and the sum by hand gives the score`] = async ({ check, build, fovea }) => {
    const file = path.join(build, `kinds-${folder}.jsonl`);
    execFileSync(fovea, ['run', '--model', path.join(build, folder), '--attention', file, '--kind', 'all'], { input: SENTENCE + '\n' });
    const run = JSON.parse(fs.readFileSync(file, 'utf8'));
    const numbers = path.join(build, `numbers-${folder}.safetensors`);
    const said = execFileSync(fovea, ['explain', '--model', path.join(build, folder), SENTENCE, '--kind', 'cross', '--query', '2', '--key', '2', '--numbers', numbers]).toString();
    const trace = tensors(numbers);
    const named = Object.keys(trace).filter((name) => /weights$/.test(name));
    check.ok(named.length > 0, Object.keys(trace).join(' '));
    for (const map of run.attention) {
      const flat = map.weights.flat();
      const held = named.some((name) => {
        const { values } = trace[name];
        const heads = values.length / flat.length;
        if (!Number.isInteger(heads)) return false;
        return Array.from({ length: heads }, (_, h) => h).some((h) => flat.every((w, i) => Math.abs(w - values[h * flat.length + i]) <= 1e-5));
      });
      check.ok(held, `${folder}: the weights of ${key(map)} are among ${named.join(' ')}`);
    }
    // A sum that is written out term by term: products on the left, their sum on the right.
    const sums = [...said.replaceAll('−', '-').replace(/\n\s+/g, ' ').matchAll(/((?:\(?-?\d+\.\d+\)?·\(?-?\d+\.\d+\)?(?: \+ )?){3,}) = (-?\d+\.\d+)/g)];
    if (folder !== 'bahdanau') check.ok(sums.length > 0, said.slice(0, 3000));
    for (const [, terms, sum] of sums) {
      const total = terms.split(' + ').filter(Boolean).reduce((all, term) => all + term.replaceAll(/[()]/g, '').split('·').reduce((a, b) => a * Number(b), 1), 0);
      check.ok(Math.abs(total - Number(sum)) < 2e-3, `${terms} is ${total}, not ${sum}`);
    }
  };
}

module.exports['a model without attention is translated, and the page says that there is none'] = async ({ open, check }) => {
  const page = await open(`#text=${encodeURIComponent(SENTENCE)}&from=en&to=nl`);
  await page.waitForFunction(() => /mann/.test(document.querySelector('#output').textContent));
  await page.waitForFunction(() => /no attention/.test(document.querySelector('#facts').textContent));
  await page.click('#explain');
  const sheet = page.frameLocator('.explain-sheet');
  await sheet.locator('section.step').first().waitFor();
  check.match(await sheet.locator('main').textContent(), /vector/);
};
