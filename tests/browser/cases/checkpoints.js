// The training of a model as a slider: the attention of its checkpoints, on the same translation.
'use strict';
const SENTENCE = 'a little girl finds the river in the morning';
const map = (page) => page.evaluate(() => { const c = document.querySelector('#attention .map-canvas'); return c.toDataURL(); });
const tokens = (page) => page.$$eval('#attention .tokens button', (all) => all.map((one) => one.firstChild.textContent).join(' '));

module.exports = {
  async 'the slider shows the checkpoints that were kept, and ends with the model'({ open, check, url }) {
    const page = await open('#text=' + encodeURIComponent(SENTENCE) + '&layer=1&head=1');
    await page.waitForSelector('.training:not([hidden])');
    await page.waitForSelector('.heads-grid button');
    check.strictEqual(await page.getAttribute('#checkpoint', 'max'), '5');
    check.strictEqual(await page.inputValue('#checkpoint'), '5');
    const [before, row, output] = [await map(page), await tokens(page), await page.textContent('#output')];
    await page.focus('#checkpoint');
    await page.keyboard.press('Home');
    await page.waitForFunction(() => /At this step the model writes/.test(document.querySelector('.training-writes').textContent));
    check.strictEqual(await page.getAttribute('#checkpoint', 'aria-valuetext'), 'after step 60');
    const early = await map(page);
    check.notStrictEqual(early, before);
    check.strictEqual(await tokens(page), row, 'the rows stay: it is given the translation of the trained model');
    check.strictEqual(await page.textContent('#output'), output);
    // The same from the server, with an early model's own log-probability.
    const ask = (more) => page.request.post(url + 'attention', { data: { q: SENTENCE, source: 'en', target: 'de', output, ...more } });
    const [then, now] = [await (await ask({ checkpoint: 60 })).json(), await (await ask({})).json()];
    check.ok(then.log_probability < now.log_probability);
    check.match(await page.textContent('.training-writes'), new RegExp(then.log_probability.toFixed(2).replace('.', '\\.')));
    await page.keyboard.press('End');
    await page.waitForFunction(() => /during training/.test(document.querySelector('.training-writes').textContent));
    check.strictEqual(await map(page), before);
    const wrong = await ask({ checkpoint: 61 });
    check.strictEqual(wrong.status(), 400);
    check.match((await wrong.json()).error, /checkpoint parameter must be one of 60, 120, 180, 240, 300/);
  },

  async 'it plays from the first step to the model, and another text begins anew'({ open, check }) {
    const page = await open('#text=' + encodeURIComponent(SENTENCE));
    await page.waitForSelector('.training:not([hidden])');
    await page.click('.training button');
    await page.waitForFunction(() => document.querySelector('#checkpoint').value === '0');
    await page.waitForFunction(() => document.querySelector('#checkpoint').value === '5', null, { timeout: 60000 });
    check.strictEqual(await page.textContent('.training button'), 'Play');
    await page.focus('#checkpoint');
    await page.keyboard.press('ArrowLeft');
    await page.fill('#text', 'a man sees the house');
    await page.waitForFunction(() => document.querySelector('#output').textContent === 'ein mann sieht das haus');
    check.strictEqual(await page.inputValue('#checkpoint'), '5');
  },
};
