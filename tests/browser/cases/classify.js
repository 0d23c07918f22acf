// Models of two tasks: a tab for each; a text is classified while it is written, and the words that decided are shaded.
'use strict';
const path = require('path');
module.exports = {
  serverOptions: (build) => ['--model', path.join(build, 'topics')],

  async 'a tab for each task'({ open, check }) {
    const page = await open();
    await page.waitForSelector('[role=tab]');
    check.deepStrictEqual(await page.$$eval('[role=tab]', (all) => all.map((one) => one.textContent)), ['Translate', 'Classify']);
    check.strictEqual(await page.isVisible('#text'), true);
    await page.click('#tab-classify');
    check.strictEqual(await page.isVisible('#text'), false);
    check.strictEqual(await page.getAttribute('#tab-classify', 'aria-selected'), 'true');
    await page.keyboard.press('Shift+Tab');
    await page.focus('#tab-classify');
    await page.keyboard.press('ArrowLeft');
    check.strictEqual(await page.isVisible('#text'), true);
  },

  async 'labels and shaded words'({ open, check }) {
    const page = await open('#task=classify');
    await page.waitForSelector('#classify-text');
    await page.fill('#classify-text', 'there is snow today');
    await page.waitForSelector('.label[aria-pressed=true]');
    check.match(await page.textContent('.label[aria-pressed=true]'), /weather/);
    const words = await page.$$eval('.shaded:first-of-type .word', (all) => all.map((one) => [one.textContent, Number(one.style.getPropertyValue('--w'))]));
    check.deepStrictEqual(words.map(([word]) => word).slice(0, 4), ['there', 'is', 'snow', 'today']);
    const most = words.reduce((a, b) => (b[1] > a[1] ? b : a));
    check.strictEqual(most[0], 'snow');
    await page.waitForFunction(() => /task=classify&text=there\+is\+snow\+today/.test(location.hash));
    check.match(await page.textContent('.decided-row:nth-of-type(2) h3'), /Saliency for weather/);
    check.strictEqual(await page.$eval('.decided-row:nth-of-type(2) .word:nth-of-type(3)', (one) => one.classList.contains('against')), false);
    await page.click('.label:nth-of-type(2)');
    check.match(await page.textContent('.decided-row:nth-of-type(2) h3'), /Saliency for food/);
    check.strictEqual(await page.$eval('.decided-row:nth-of-type(2) .word:nth-of-type(3)', (one) => one.classList.contains('against')), true);
    await page.click('#language');
    check.match(await page.textContent('#decided-title'), /词/);
  },

  async 'the address brings it back'({ open, check }) {
    const page = await open('#task=classify&text=we+like+soup&label=weather');
    await page.waitForSelector('.label[aria-pressed=true]');
    check.match(await page.textContent('.label[aria-pressed=true]'), /weather/, 'the label that was chosen');
    check.match(await page.textContent('.label'), /food/, 'the likeliest first');
    check.strictEqual(await page.inputValue('#classify-text'), 'we like soup');
  },
};
