// The clients of LibreTranslate that people install, unchanged, against `fovea serve`.
//
//   node clients.mjs FOVEA MODEL: MODEL is one that calls its languages dates and iso, as the demo's does.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
const { default: translate } = await import('translate');
const { translate: libretranslate } = require('libretranslate');
const { libreTranslate } = require('libretranslate-ts');

const [fovea, model] = process.argv.slice(2);
const text = '3 March 2021';

// Starts a server on a free port and waits until it listens.
function serve(...options) {
  const process = spawn(fovea, ['serve', '--port', '0', ...options], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise((resolve) => process.on('exit', resolve));
  return new Promise((resolve, reject) => {
    let said = '';
    process.stdout.on('data', (bytes) => {
      said += bytes;
      const found = said.match(/listening on (\S+)/);
      if (found) resolve({ url: found[1], stop: () => (process.kill('SIGTERM'), ended) });
    });
    ended.then((code) => reject(new Error(`fovea serve ended with ${code}`)));
  });
}

// What the server answers to a plain request.
async function expected(url, source, target) {
  const body = JSON.stringify({ q: text, source, target });
  const response = await fetch(`${url}/translate`, { method: 'POST', body, headers: { 'Content-Type': 'application/json' } });
  const answer = (await response.json()).translatedText;
  assert.ok(answer, 'the server translates');
  return answer;
}

const clients = {
  // Sends only codes of ISO 639-1.
  async translate(url, { languages, wanted }) {
    translate.engine = 'libre';
    translate.url = `${url}/translate`;
    assert.equal(await translate(text, { from: 'en', to: 'de' }), wanted);
    if (languages) await assert.rejects(translate('one', { from: 'aa', to: 'de' }), /aa is not supported/);
  },
  // Looks both codes up in /languages before it asks.
  async libretranslate(url, { source, target, wanted }) {
    assert.equal(await libretranslate({ query: text, source, target, apiurl: url }), wanted);
    assert.equal(await libretranslate({ query: text, target, apiurl: url }), wanted);  // source: auto
  },
  async 'libretranslate-ts'(url, { source, target, wanted }) {
    libreTranslate.setApiEndpoint(url);
    const listed = await libreTranslate.listLanguages();
    assert.deepEqual(listed.find((language) => language.code === source).targets, [target]);
    const done = await libreTranslate.translate(text, source, target, 2);
    assert.deepEqual([done.status, done.translatedText], [200, wanted]);
    assert.ok(Array.isArray(done.alternatives));
    const found = await libreTranslate.detect('This is the house of the man.');
    assert.deepEqual([found.status, found.language], [200, 'en']);
    assert.equal((await libreTranslate.translate(text, 'zz', target)).error, 'zz is not supported');
  },
};

let failures = 0;
for (const how of [
  { option: model, source: 'dates', target: 'iso', languages: false },
  { option: `en-de=${model}`, source: 'en', target: 'de', languages: true },
]) {
  const server = await serve('--model', how.option);
  how.wanted = await expected(server.url, how.source, how.target);
  for (const [name, check] of Object.entries(clients)) {
    try {
      await check(server.url, how);
      console.log(`ok ${name}, ${how.source} to ${how.target}`);
    } catch (error) {
      failures += 1;
      console.log(`not ok ${name}, ${how.source} to ${how.target}: ${error.stack}`);
    }
  }
  assert.equal(await server.stop(), 0, 'the server ends well');
}
process.exitCode = failures === 0 ? 0 : 1;
