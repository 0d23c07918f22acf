// Text is text: markup in a sentence, in a translation or in a token is shown and never run.
'use strict';
const EVIL = '<img src=x onerror=alert(1)><script>alert(2)</script> & a man <b>sees</b>';
module.exports = {
  async 'markup that is typed stays text'({ open, check }) {
    const page = await open('#text=' + encodeURIComponent(EVIL));
    await page.waitForSelector('#look:not([hidden])');
    check.strictEqual(await page.textContent('#mirror'), EVIL);
    check.strictEqual(await page.locator('main img, main script, #mirror b, #output b').count(), 0);
  },
  async 'markup that the server answers stays text'({ open, check, errors }) {
    const page = await open();
    await page.route('**/translate', (route) => route.fulfill({ json: { translatedText: EVIL, alternatives: [EVIL + '!'], attention: { source: ['<i>a</i>'], target: [EVIL], weights: [[1]] } } }));
    await page.route('**/attention', (route) => route.fulfill({ status: 500, json: { error: EVIL } }));
    await page.fill('#text', '<i>a</i>');
    await page.waitForSelector('#look:not([hidden])');
    check.strictEqual(await page.textContent('#output'), EVIL);
    check.strictEqual(await page.locator('main img, main i:not(.map-legend i), #output script, #alternatives img').count(), 0);
    errors.splice(0, errors.length, ...errors.filter((text) => !/status of 500/.test(text)));
  },
  async 'the page allows nothing but its own files'({ open, check, url, errors }) {
    const page = await open();
    const response = await page.request.get(url);
    check.match(response.headers()['content-security-policy'] || '', /default-src 'self'/);
    check.doesNotMatch(response.headers()['content-security-policy'], /unsafe-inline|unsafe-eval/);
    const refused = await page.evaluate(() => new Promise((done) => {
      document.addEventListener('securitypolicyviolation', () => done(true));
      const script = document.createElement('script');
      script.textContent = 'window.ran = true';
      document.body.append(script);
      setTimeout(() => done(window.ran !== true), 500);
    }));
    check.ok(refused);
    errors.splice(0); // the browser notes what it refused
  },
};
