// The server goes away and comes back; it refuses; it is busy.
'use strict';
module.exports = {
  async 'the page says that the server is gone, keeps the text, and goes on when it is back'({ open, server, check, errors }) {
    const page = await open();
    await page.fill('#text', 'a man sees the house');
    await page.waitForFunction(() => /mann/.test(document.querySelector('#output').textContent));
    await page.waitForSelector('#search:not([hidden])');
    await server.stop();
    await page.fill('#text', 'two dogs see the house');
    await page.waitForSelector('#notice:not([hidden])');
    check.match(await page.textContent('#notice'), /does not answer/);
    check.strictEqual(await page.inputValue('#text'), 'two dogs see the house');
    await server.start();
    await page.waitForFunction(() => /hunde/.test(document.querySelector('#output').textContent));
    await page.waitForSelector('#notice', { state: 'hidden' });
    errors.splice(0); // the browser itself notes the connections that failed
  },
  async 'an error of the server is shown as it says it, as text'({ open, check, errors }) {
    const page = await open();
    await page.route('**/translate', (route) => route.fulfill({ status: 400, contentType: 'application/json', body: JSON.stringify({ error: '<b>zz</b> is not supported' }) }));
    await page.fill('#text', 'a man');
    await page.waitForSelector('#notice:not([hidden])');
    check.strictEqual(await page.textContent('#notice'), '<b>zz</b> is not supported');
    errors.splice(0);
  },
  async 'a busy server is asked again when it says so'({ open, check, errors }) {
    const page = await open();
    let times = 0;
    await page.route('**/translate', (route) => (times++ === 0
      ? route.fulfill({ status: 429, headers: { 'Retry-After': '1' }, contentType: 'application/json', body: JSON.stringify({ error: 'Slowdown' }) }) : route.continue()));
    await page.fill('#text', 'a man reads');
    await page.waitForSelector('#notice:not([hidden])');
    check.match(await page.textContent('#notice'), /busy/);
    await page.waitForFunction(() => /mann/.test(document.querySelector('#output').textContent));
    await page.waitForSelector('#notice', { state: 'hidden' });
    errors.splice(0);
  },
};
