// harness.js CASE BUILD FOVEA: runs the cases that CASE exports, {name: async (world) => …}, each on a page of its own.
//   world: page, url, server {start, stop}, open(hash, options) for another page, check (node's assert), build, fovea
// serverOptions(build), when it is exported, gives more options for `fovea serve`.
// A word on the console of the page that is an error, a refused resource or an exception fails the case.
'use strict';
const check = require('assert');
const net = require('net');
const http = require('http');
const path = require('path');
const { spawn } = require('child_process');
const { chromium } = require('playwright-core');

const [file, build, fovea] = process.argv.slice(2).map((one) => path.resolve(one));
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
const freePort = () => new Promise((done) => {
  const probe = net.createServer().listen(0, '127.0.0.1', () => { const { port } = probe.address(); probe.close(() => done(port)); });
});
const answers = (url) => new Promise((done) => {
  http.get(url, (response) => { response.resume(); done(response.statusCode === 200); }).on('error', () => done(false));
});

class Server {
  constructor(port) { this.port = port; this.url = `http://127.0.0.1:${port}/`; this.said = ''; }
  async start() {
    this.process = spawn(fovea, ['serve', '--model', path.join(build, 'model'), '--port', String(this.port), ...(this.options || [])], { stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [this.process.stdout, this.process.stderr]) stream.on('data', (text) => { this.said += text; });
    for (let tries = 0; tries < 150; ++tries) {
      if (await answers(this.url + 'health')) return;
      if (this.process.exitCode !== null) break;
      await sleep(100);
    }
    throw new Error('fovea serve does not answer: ' + this.said);
  }
  async stop() {
    if (!this.process || this.process.exitCode !== null) return;
    const gone = new Promise((done) => this.process.once('exit', done));
    this.process.kill('SIGTERM');
    const late = setTimeout(() => this.process.kill('SIGKILL'), 5000);
    await gone;
    clearTimeout(late);
  }
}

(async () => {
  const cases = require(file);
  const server = new Server(await freePort());
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM || '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu'] });
  let failed = 0;
  try {
    server.options = cases.serverOptions ? cases.serverOptions(build) : [];
    await server.start();
    for (const [name, run] of Object.entries(cases)) {
      if (name === 'serverOptions') continue;
      const errors = [];
      const contexts = [];
      const open = async (hash = '', options = {}) => {
        const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, locale: 'en-US', acceptDownloads: true, ...options });
        contexts.push(context);
        const page = await context.newPage();
        page.setDefaultTimeout(30000);
        page.on('pageerror', (error) => errors.push(error.message));
        page.on('console', (message) => { if (message.type() === 'error') errors.push(message.text()); });
        page.on('dialog', (dialog) => { errors.push('a dialog: ' + dialog.message()); dialog.dismiss(); });
        if (hash !== null) await page.goto(server.url + hash);
        return page;
      };
      const began = Date.now();
      try {
        await run({ open, server, check, url: server.url, build, fovea, errors, sleep });
        check.deepStrictEqual(errors, [], 'the page had errors');
        console.log(`ok    ${name} (${Date.now() - began} ms)`);
      } catch (error) {
        failed += 1;
        console.log(`FAIL  ${name}\n${error.stack}\n${errors.join('\n')}`);
        for (const context of contexts) for (const page of context.pages()) await page.screenshot({ path: path.join(build, `failed-${path.basename(file, '.js')}.png`) }).catch(() => {});
      }
      for (const context of contexts) await context.close();
    }
  } finally {
    await browser.close();
    await server.stop();
  }
  process.exit(failed ? 1 : 0);
})().catch((error) => { console.error(error); process.exit(1); });
