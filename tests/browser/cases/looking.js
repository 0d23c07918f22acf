// Hover or focus a word, and what it attended to lights up; the layer and the head can be chosen.
'use strict';
const SENTENCE = 'three birds find an apple in the morning';
const whole = async (open, hash = '#text=' + encodeURIComponent(SENTENCE)) => {
  const page = await open(hash);
  await page.waitForSelector('.heads-grid button');
  return page;
};

module.exports = {
  async 'a word of the translation lights words of the text'({ open, check }) {
    const page = await whole(open);
    await page.hover('#output .token >> nth=1');
    await page.waitForSelector('#mirror .token.lit');
    check.ok(await page.locator('#output .token.own').count() === 1);
    check.ok(await page.locator('.tokens.source button.on').count() > 0);
    check.match(await page.textContent('.attention-readout >> nth=0'), /attended to .*%/);
  },
  async 'a word of the text lights words of the translation'({ open, check }) {
    const page = await whole(open);
    const box = await page.locator('#mirror .token >> nth=0').boundingBox();
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await page.waitForSelector('#output .token.lit');
    check.ok(await page.locator('#mirror .token.own').count() === 1);
    check.ok(await page.locator('.tokens.target button.on').count() > 0);
    check.match(await page.textContent('.attention-readout >> nth=0'), /was attended to by .*%/);
  },
  async 'the keys do the same: arrows move, Enter keeps, Escape lets go'({ open, check }) {
    const page = await whole(open);
    await page.focus('.tokens.target button >> nth=0');
    await page.keyboard.press('ArrowRight');
    check.strictEqual(await page.getAttribute('.tokens.target button.active', 'data-i'), '1');
    check.ok(await page.locator('#mirror .token.lit').count() > 0);
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => /word=t1/.test(location.hash));
    await page.keyboard.press('ArrowUp');
    check.strictEqual(await page.evaluate(() => document.activeElement.dataset.side), 'source');
    await page.keyboard.press('Escape');
  },
  async 'another head shows other weights, by grid or by box'({ open, check }) {
    const page = await whole(open);
    const weights = () => page.evaluate(() => { const c = document.querySelector('.map-canvas'); return c.toDataURL(); });
    const mean = await weights();
    await page.getByRole('button', { name: 'Layer 1, head 2' }).click();
    await page.waitForFunction((before) => document.querySelector('.map-canvas').toDataURL() !== before, mean);
    await page.waitForFunction(() => /layer=1&head=2/.test(location.hash));
    check.strictEqual(await page.getAttribute('.heads-grid [data-layer="1"][data-head="2"]', 'aria-pressed'), 'true');
    const one = await weights();
    await page.locator('#view-generate').getByLabel('Head', { exact: true }).selectOption('0');
    await page.waitForFunction((before) => document.querySelector('.map-canvas').toDataURL() !== before, one);
  },
  async 'the weights can be read as a table whose rows sum to one'({ open, check }) {
    const page = await whole(open);
    await page.click('.weights summary');
    await page.waitForSelector('.weights-table tbody tr');
    const rows = await page.evaluate(() => [...document.querySelectorAll('.weights-table tbody tr')].map((row) =>
      [...row.querySelectorAll('td')].reduce((sum, cell) => sum + Number(cell.textContent), 0)));
    check.ok(rows.length > 3);
    for (const sum of rows) check.ok(Math.abs(sum - 1) < 0.02, String(sum));
  },
  async 'the beam is a tree; its best path ends the translation'({ open, check }) {
    const page = await whole(open);
    await page.waitForSelector('.beam-node.best');
    await page.hover('.beam-node.best >> nth=2');
    check.ok(await page.locator('.beam-node.lit').count() >= 3);
    check.match(await page.textContent('#beam .attention-readout'), /log-probability so far -?\d/);
  },
  async 'words instead of pieces'({ open }) {
    const page = await whole(open);
    const pieces = await page.locator('.tokens.source button').count();
    await page.click('[data-unit="words"]');
    await page.waitForFunction((before) => document.querySelectorAll('.tokens.source button').length < before, pieces);
    await page.waitForFunction(() => /unit=words/.test(location.hash));
  },
};
