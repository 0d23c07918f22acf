// The pages of `fovea compare --html`: models and scores side by side, a slider over the checkpoints of a training.
'use strict';
const fs = require('fs');
const os = require('os');
const path = require('path');
const { execFileSync } = require('child_process');
const SENTENCE = 'a little girl finds the river';

async function compared({ open, fovea }, options, more = {}) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'fovea-compare-'));
  try {
    const file = path.join(folder, 'compare.html');
    execFileSync(fovea, ['compare', ...options, '--html', file]);
    const page = await open(null, more);
    await page.goto('file://' + file);
    await page.waitForSelector('.compared .map-canvas');
    return page;
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
}
const titles = (page) => page.$$eval('.compared h2', (all) => all.map((one) => one.textContent));
const map = (page, n) => page.evaluate((i) => document.querySelectorAll('.compared .map-canvas')[i].toDataURL(), n);
const tokens = (page, n) => page.evaluate((i) => [...document.querySelectorAll('.compared')[i].querySelectorAll('.tokens button')].map((b) => b.firstChild.textContent).join(' '), n);
const across = (page) => page.$$eval('.compared', (all) => new Set(all.map((one) => Math.round(one.getBoundingClientRect().top))).size);

module.exports = {
  async 'a slider goes through the checkpoints next to the trained model'(world) {
    const { check, build } = world;
    const page = await compared(world, ['--checkpoints', path.join(build, 'model'), SENTENCE]);
    check.deepStrictEqual(await titles(page), ['after step 60', 'trained']);
    check.strictEqual(await page.getAttribute('#checkpoint', 'max'), '5');
    check.strictEqual(await tokens(page, 0), await tokens(page, 1), 'all are given the same translation');
    check.notStrictEqual(await map(page, 0), await map(page, 1));
    await page.focus('#checkpoint');
    await page.keyboard.press('ArrowRight');
    check.deepStrictEqual(await titles(page), ['after step 120', 'trained']);
    await page.keyboard.press('End');
    check.deepStrictEqual(await titles(page), ['trained', 'trained']);
    check.strictEqual(await map(page, 0), await map(page, 1));
    await page.selectOption('.compared-head select', { index: 1 });
    check.deepStrictEqual(await titles(page), ['trained', 'after step 120']);
    check.notStrictEqual(await map(page, 0), await map(page, 1));
    await page.click('.training button');
    await page.waitForFunction(() => document.querySelector('#checkpoint').value === '5' && document.querySelector('.training button').textContent === 'Play', null, { timeout: 30000 });
  },

  async 'two models are side by side, and a choice in one applies to both'(world) {
    const { check, build } = world;
    const page = await compared(world, ['--model', path.join(build, 'model'), '--model', path.join(build, 'tiny'), SENTENCE]);
    check.strictEqual(await page.locator('.compared').count(), 2);
    check.strictEqual(await across(page), 1, 'next to each other');
    check.match(await page.textContent('.compared-says >> nth=0'), /ein kleines mädchen findet den fluss · log-probability -/);
    const before = await map(page, 1);
    await page.locator('.compared').first().locator('.heads-grid button[data-layer="1"][data-head="2"]').click();
    check.strictEqual(await page.locator('.compared').last().locator('.heads-grid button[aria-pressed=true]').getAttribute('data-head'), '2');
    check.notStrictEqual(await map(page, 1), before);
    // One cuts words into pieces and the other does not: pointing at a token stays where it is.
    await page.hover('.compared >> nth=0 >> .tokens.source button >> nth=1');
    check.strictEqual(await page.locator('.compared').last().locator('.tokens button.active').count(), 0);
    await page.setViewportSize({ width: 390, height: 800 });
    check.strictEqual(await across(page), 2, 'below each other on a phone');
    check.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
  },

  async 'one sentence under five scores, pointing lights the same token in all, in Chinese too'(world) {
    const { check } = world;
    const page = await compared(world, ['--scores'], { locale: 'zh-CN' });
    check.deepStrictEqual((await titles(page)).map((one) => one.split(':')[0]), ['dot', 'scaled dot', 'general', 'additive', 'cosine']);
    check.strictEqual(await page.textContent('h1'), '一个句子，五种打分函数');
    const said = () => page.$$eval('.attention-readout', (all) => all.map((one) => one.textContent));
    await page.hover('.compared >> nth=0 >> .tokens.target button >> nth=3');
    await page.waitForFunction(() => document.querySelectorAll('.tokens.target button.active').length === 5);
    const five = await said();
    check.ok(five.every((one) => /^“它”关注了/.test(one)), five.join('\n'));
    check.strictEqual(new Set(five).size, 5, 'each score has weights of its own');
    await page.click('#language');
    check.strictEqual(await page.textContent('h1'), 'One sentence with five score functions');
  },
};
