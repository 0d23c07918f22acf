// Type, and the translation appears.
'use strict';
const SENTENCE = 'a little girl reads a book today';
const ready = (page) => page.waitForFunction(() => document.querySelector('#output').textContent && !document.querySelector('#output.stale'));

module.exports = {
  async 'the translation of what is typed appears, with other translations'({ open, check, url }) {
    const page = await open();
    await page.getByRole('textbox', { name: 'Your text' }).pressSequentially(SENTENCE, { delay: 15 });
    await page.waitForFunction(() => document.querySelector('#output').textContent === 'ein kleines mädchen liest ein buch heute');
    await page.waitForSelector('#search:not([hidden])');
    const answer = await (await page.request.post(url + 'translate', { data: { q: SENTENCE, source: 'en', target: 'de', format: 'text', alternatives: 3 } })).json();
    await page.waitForFunction((text) => document.querySelector('#output').textContent === text, answer.translatedText);
    check.ok(await page.locator('#alternatives li').count() > 0);
  },
  async 'an answer to an older text is never shown'({ open, check, url }) {
    const page = await open(null);
    let first = true;
    await page.route('**/translate', async (route) => {
      const slow = first;
      first = false;
      if (slow) await new Promise((done) => setTimeout(done, 1500));
      await route.continue().catch(() => {});
    });
    await page.goto(url);
    await page.fill('#text', 'a man sees a book');
    await page.waitForTimeout(500); // the slow request is on its way
    await page.fill('#text', 'two dogs see the snow');
    await ready(page);
    await page.waitForTimeout(1800);
    check.match(await page.textContent('#output'), /hunde/);
    check.doesNotMatch(await page.textContent('#output'), /mann/);
  },
  async 'a character that is still being composed is not sent'({ open, check }) {
    const page = await open();
    const sent = [];
    page.on('request', (request) => { if (/translate$/.test(request.url())) sent.push(request.postDataJSON().q); });
    await page.focus('#text');
    const keyboard = await page.context().newCDPSession(page);
    await keyboard.send('Input.imeSetComposition', { text: 'kan', selectionStart: 3, selectionEnd: 3 });
    await page.waitForTimeout(600);
    check.deepStrictEqual(sent, []);
    await keyboard.send('Input.insertText', { text: '看' });
    await ready(page);
    check.deepStrictEqual(sent, ['看']);
  },
  async 'an example fills the page; clearing empties it'({ open, check }) {
    const page = await open();
    await page.locator('.example').first().click();
    await ready(page);
    await page.click('#clear');
    check.strictEqual(await page.textContent('#output'), '');
    check.strictEqual(await page.isVisible('#look'), false);
    check.strictEqual(await page.isVisible('.example >> nth=0'), true);
  },
};
