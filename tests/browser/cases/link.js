// A permanent link leads to what one saw.
'use strict';
module.exports = {
  async 'text, layer, head and word come back from the address'({ open, check }) {
    const page = await open('#text=a+woman+loves+the+river&from=en&to=de&layer=1&head=3&word=t2');
    await page.waitForSelector('.tokens.target button.pinned');
    check.strictEqual(await page.inputValue('#text'), 'a woman loves the river');
    check.strictEqual(await page.getAttribute('.tokens.target button.pinned', 'data-i'), '2');
    check.strictEqual(await page.getAttribute('.heads-grid [aria-pressed="true"]', 'title'), 'Layer 1, head 3');
    check.ok(await page.locator('#mirror .token.lit').count() > 0);
    await page.waitForTimeout(400); // long enough for the page to write an address of its own
    check.match(page.url(), /layer=1&head=3&word=t2/);
  },
  async 'the address that the page writes leads to the same page'({ open, check, url }) {
    const first = await open();
    await first.fill('#text', 'my brother paints a red car');
    await first.waitForSelector('.heads-grid button');
    await first.getByRole('button', { name: 'Layer 0, head 1' }).click();
    await first.click('.tokens.source button >> nth=1');
    await first.waitForFunction(() => /word=s1/.test(location.hash));
    const second = await open(first.url().slice(url.length));
    await second.waitForSelector('.tokens.source button.pinned');
    // Heads come after the words, and until they do the page shows their mean.
    for (const page of [first, second]) await page.waitForSelector('.heads-grid [aria-pressed="true"][title="Layer 0, head 1"]');
    const seen = (page) => page.evaluate(() => [document.querySelector('#output').textContent, ...[...document.querySelectorAll('.tokens button')].map((b) => b.textContent)].join('|'));
    await first.mouse.move(2, 2);
    check.strictEqual(await seen(second), await seen(first));
  },
  async 'a broken address is no trouble'({ open, check }) {
    const page = await open('#text=a+man&from=zz&to=yy&layer=99&head=x&word=t999&%E0%A4%A');
    await page.waitForFunction(() => document.querySelector('#output').textContent !== '');
    check.strictEqual(await page.isVisible('#notice'), false);
  },
};
