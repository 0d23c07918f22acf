// The page in Chinese, by the browser's language or by its switch; dark and light; on a phone.
'use strict';
const fs = require('fs');
const path = require('path');

module.exports = {
  async 'a Chinese browser gets a Chinese page'({ open, check }) {
    const page = await open('#text=a+man', { locale: 'zh-CN' });
    await page.waitForSelector('#look:not([hidden])');
    check.match(await page.textContent('.tagline'), /翻译/);
    check.strictEqual(await page.getAttribute('html', 'lang'), 'zh-Hans');
    check.strictEqual(await page.textContent('#from option:checked'), '英语');
    check.match(await page.textContent('.attention-readout >> nth=0'), /指向一个词/);
    const left = await page.evaluate(() => [...document.querySelectorAll('main [data-word], main h2, main h3, main label, main summary')].filter((e) => e.offsetParent && /[A-Za-z]{4}/.test(e.textContent)).map((e) => e.textContent));
    check.deepStrictEqual(left, []);
  },
  async 'both languages of the dictionary have the same keys'({ check }) {
    const folder = path.join(__dirname, '../../../web/words');
    for (const file of fs.readdirSync(folder, { recursive: true }).filter((one) => one.endsWith('.js'))) await import(path.join(folder, file));
    const { dictionaries } = await import('../../../web/lib/language.js');
    const list = (value) => (typeof value === 'object' ? Object.entries(value).map(([key, inner]) => [key, list(inner)]).sort() : typeof value);
    for (const [subject, { en, zh }] of dictionaries) check.deepStrictEqual(list(en), list(zh), subject);
    check.ok(dictionaries.size > 15);
  },
  async 'every word that an element names is in the dictionary'({ open, check }) {
    const page = await open('#text=a+man');
    await page.waitForSelector('#search:not([hidden])');
    const empty = await page.$$eval('[data-word]', (all) => all.filter((one) => !one.textContent).map((one) => one.dataset.word));
    check.deepStrictEqual(empty, []);
  },
  async 'the switch changes every word and is remembered'({ open, check }) {
    const page = await open('#text=a+man');
    await page.waitForSelector('#search:not([hidden])');
    await page.getByRole('button', { name: '中文' }).click();
    check.strictEqual(await page.textContent('#look-title'), '注意力');
    check.strictEqual(await page.getAttribute('#swap', 'aria-label'), '交换语言');
    const blank = await page.evaluate(() => [...document.querySelectorAll('.heads-grid canvas')].filter((c) => c.getContext('2d').getImageData(c.width / 2, c.height / 2, 1, 1).data[3] === 0).length);
    check.strictEqual(blank, 0, 'every head is drawn again');
    await page.reload();
    await page.waitForSelector('#look:not([hidden])');
    check.strictEqual(await page.textContent('#look-title'), '注意力');
  },
  async 'dark follows the system and the button'({ open, check }) {
    const page = await open('', { colorScheme: 'dark' });
    const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    check.strictEqual(await paper(), 'rgb(18, 20, 23)');
    await page.getByRole('button', { name: 'Light or dark' }).click();
    check.strictEqual(await paper(), 'rgb(251, 251, 249)');
  },
  async 'nothing is cut off on a phone'({ open, check }) {
    const page = await open('#text=a+little+girl+finds+the+river+in+the+morning', { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true });
    await page.waitForSelector('.heads-grid button');
    check.ok(await page.evaluate(() => document.documentElement.scrollWidth) <= 360);
    await page.tap('.tokens.target button >> nth=1');
    await page.waitForSelector('#mirror .token.lit');
  },
  async 'every control has a name'({ open, check }) {
    const page = await open('#text=a+man+sees+a+book');
    await page.waitForSelector('#search:not([hidden])');
    const nameless = await page.evaluate(() => [...document.querySelectorAll('button, select, textarea, input, canvas[tabindex]')].filter((e) => e.offsetParent
      && !(e.textContent.trim() || e.getAttribute('aria-label') || (e.labels && e.labels.length && [...e.labels].some((l) => l.textContent.trim())))).map((e) => e.outerHTML));
    check.deepStrictEqual(nameless, []);
  },
};
