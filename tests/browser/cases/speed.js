// How long the page takes: to answer typing, and with many tokens, layers and heads.
'use strict';
const path = require('path');
const median = (list) => list.sort((a, b) => a - b)[list.length >> 1];
module.exports = {
  serverOptions: (build) => ['--model', `en-fr=${path.join(build, 'tiny')}`],

  async 'typing is answered at once'({ open, check }) {
    // Twenty tokens for transformer-tiny; one more letter, and the time until its translation is shown.
    const page = await open('#from=en&to=fr');
    await page.waitForSelector('.example');
    const text = 'a little girl finds the river in the morning with joy and my brother paints a red car in the morning';
    check.strictEqual(text.split(' ').length, 21);
    await page.fill('#text', text.slice(0, -2));
    await page.waitForSelector('.heads-grid button');
    const times = [];
    for (let i = 0; i < 9; ++i) {
      times.push(await page.evaluate(async (value) => {
        const box = document.getElementById('text');
        const output = document.getElementById('output');
        box.value = value;
        const began = performance.now();
        box.dispatchEvent(new InputEvent('input', { bubbles: true }));
        while (!output.classList.contains('stale')) await new Promise((done) => setTimeout(done, 0));
        while (output.classList.contains('stale')) await new Promise((done) => setTimeout(done, 0));
        return performance.now() - began;
      }, i % 2 ? text : text.slice(0, -1)));
      await page.waitForTimeout(300);
    }
    const time = median(times);
    console.log(`      typing is answered after ${time.toFixed(0)} ms (fastest ${Math.min(...times).toFixed(0)})`);
    // 150 on two free cores; a machine that is busy with other tests takes longer.
    check.ok(Math.min(...times) < 450, times.join(' '));
  },

  async '500 tokens, 12 layers of 16 heads: a frame stays short'({ open, check }) {
    const N = 500;
    const page = await open();
    const tokens = (stem) => Array.from({ length: N }, (_, i) => `▁${stem}${i}`);
    const [source, target] = [tokens('s'), tokens('t')];
    const largest = (shift) => ({ index: target.map((_, t) => Array.from({ length: 8 }, (__, n) => (t + shift + n) % N)), weight: target.map(() => [0.6, 0.1, 0.1, 0.05, 0.05, 0.04, 0.03, 0.03]) });
    const text = target.join('').replaceAll('▁', ' ').trim();
    const mean = target.map((_, t) => source.map((__, s) => (s === t ? 1 : 0)));
    const asked = [];
    await page.route('**/translate', (route) => route.fulfill({ json: { translatedText: text, alternatives: [], attention: { source, target, weights: mean } } }));
    await page.context().route('**/attention', (route) => {
      asked.push(route.request().postDataJSON());
      return route.fulfill({ json: {
        translatedText: text, model: 'en-de', log_probability: -1, source, target, sentences: [{ output: text, source: N, target: N }], largest: largest(0),
        attention: ['cross', 'encoder'].flatMap((kind) => Array.from({ length: kind === 'cross' ? 192 : 16 }, (_, i) => ({ kind, layer: Math.floor(i / 16), head: i % 16, queries: kind === 'cross' ? target : source, keys: source, largest: largest(i) }))),
        beam: { nodes: [{ id: 0, parent: -1, step: 0, token: '', log_probability: 0, finished: false }], best: [0] },
      } });
    });
    // As many heads as the page would have to fetch all weights of.
    await page.route('**/frontend/settings', async (route) => {
      const reply = await (await route.fetch()).json();
      for (const model of reply.fovea.models) Object.assign(model, { layers: 12, heads: 16 });
      await route.fulfill({ json: reply });
    });
    await page.reload();
    await page.waitForSelector('.example');
    await page.fill('#text', source.join('').replaceAll('▁', ' ').trim());
    await page.waitForFunction(() => document.querySelectorAll('.heads-grid button').length === 13 * 17, null, { timeout: 60000 });
    check.strictEqual(asked[asked.length - 1].top, 8, 'the largest weights only');
    // Every head is drawn, a few in each frame.
    await page.waitForFunction(() => ![...document.querySelectorAll('.heads-grid canvas')].some((c) => c.getContext('2d').getImageData(32, 32, 1, 1).data[3] === 0), null, { timeout: 60000, polling: 300 });
    check.ok(await page.evaluate(() => document.querySelectorAll('*').length) < 8000, 'few elements');
    check.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
    const frames = (act) => page.evaluate(async (source_) => {
      const step = new Function('i', source_);
      const list = [];
      for (let i = 0; i < 30; ++i) {
        await new Promise((done) => requestAnimationFrame(done));
        const began = performance.now();
        step(i);
        document.body.getBoundingClientRect();
        list.push(performance.now() - began);
      }
      return list;
    }, act);
    const pointing = median(await frames("document.querySelector('.tokens.target').children[(i * 37) % 500].firstChild.dispatchEvent(new PointerEvent('pointerover', { bubbles: true, pointerType: 'mouse' }))"));
    const choosing = median(await frames("document.querySelectorAll('.heads-grid button')[18 + (i * 13) % 190].click()"));
    console.log(`      pointing ${pointing.toFixed(1)} ms, another head ${choosing.toFixed(1)} ms`);
    check.ok(pointing < 50, `pointing took ${pointing} ms`);
    check.ok(choosing < 150, `another head took ${choosing} ms`);
    await page.selectOption('.choose-kind', 'encoder');
    await page.waitForFunction(() => /Keys/.test(document.querySelector('.attention-side').textContent));
  },
};
