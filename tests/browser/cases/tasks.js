// A translation, a classification, a chat and a caption model at once: a tab for each, and each works.
'use strict';
const fs = require('fs');
const path = require('path');
const picture = (build, i) => path.join(build, 'shapes', `${i}.png`);
module.exports = {
  serverOptions: (build) => ['topics', 'talk', 'shapes-model'].flatMap((name) => ['--model', path.join(build, name)]).concat('--learn'),

  async 'each tab does its work'({ open, check, build }) {
    const page = await open();
    await page.waitForSelector('[role=tab]');
    check.deepStrictEqual(await page.$$eval('[role=tab]', (all) => all.map((one) => one.textContent)), ['Translate', 'Classify', 'Chat', 'Caption', 'Learn']);

    await page.fill('#text', 'a man sees the house');
    await page.waitForFunction(() => document.querySelector('#output').textContent === 'ein mann sieht das haus');

    await page.click('#tab-classify');
    await page.click('#view-classify .example >> nth=0'); // a validation line of this model
    await page.waitForSelector('.label[aria-pressed=true]');
    check.match(await page.textContent('.label[aria-pressed=true]'), /food/);

    await page.click('#tab-chat');
    await page.click('#view-chat .example >> nth=0');
    await page.waitForSelector('.talk .reply');
    check.strictEqual(await page.textContent('.talk .reply'), 'hi , who are you ?');
    await page.fill('#chat-text', 'anna');
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => document.querySelectorAll('.talk .reply').length === 2);
    const names = await page.$$eval('#chat-attention .tokens.source button', (all) => all.map((one) => one.firstChild.textContent));
    check.ok(names.includes('‹turn›') && !names.includes('‹start›'), names.join(' '));
    check.match(await page.textContent('#chat-attention .attention-side >> nth=0'), /What was said/);

    await page.click('#tab-caption');
    await page.setInputFiles('#caption-file', picture(build, 0));
    await page.waitForSelector('.picture-caption');
    const wanted = fs.readFileSync(path.join(build, 'shapes.target'), 'utf8').split('\n')[0];
    check.strictEqual(await page.textContent('.picture-caption'), wanted);

    await page.click('#tab-learn');
    await page.waitForSelector('.lesson');
    await page.click('#tab-generate');
    check.strictEqual(await page.textContent('#output'), 'ein mann sieht das haus', 'what a tab shows stays');
  },

  async 'a caption: every word has its picture, pointing at one darkens the rest, keys do the same'({ open, check, build }) {
    const page = await open('#task=caption');
    await page.waitForSelector('.picture-drop');
    await page.setInputFiles('#caption-file', picture(build, 1));
    await page.waitForSelector('.picture-word canvas');
    const words = (await page.textContent('.picture-caption')).split(' ');
    check.strictEqual(await page.locator('.picture-word').count(), words.length + 1, 'and the end');
    // Neither all dark nor all light.
    const dark = () => page.evaluate(() => { const c = document.querySelector('.picture-dark'); const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data; return [...d].filter((_, i) => i % 4 === 3); });
    check.strictEqual(Math.max(...await dark()), 0, 'nothing is pointed at');
    await page.hover('.picture-word >> nth=1');
    const first = await dark();
    check.ok(Math.max(...first) > 100 && Math.min(...first) < 10);
    check.match(await page.textContent('.picture-says'), new RegExp(`^${words[1]}: \\d+ %`));
    await page.focus('.picture-word >> nth=5');
    check.notDeepStrictEqual(await dark(), first);
    await page.click('#language');
    check.match(await page.textContent('.picture-says'), /指向/);
  },

  async 'a picture is dropped; what is none is refused in words'({ open, check, build }) {
    const page = await open('#task=caption');
    await page.waitForSelector('.picture-drop');
    const drop = (bytes, name, type) => page.evaluate(([list, fileName, fileType]) => {
      const data = new DataTransfer();
      data.items.add(new File([new Uint8Array(list)], fileName, { type: fileType }));
      document.getElementById('view-caption').dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }));
    }, [[...bytes], name, type]);
    await drop(Buffer.from('no picture'), 'x.png', 'image/png');
    await page.waitForSelector('#notice:not([hidden])');
    check.match(await page.textContent('#notice'), /cannot read/);
    await drop(fs.readFileSync(picture(build, 2)), 'y.png', 'image/png');
    await page.waitForSelector('.picture-caption');
    check.match(await page.textContent('.picture-caption'), /left of/);
  },

  async 'nothing is wider than a phone, in any tab'({ open, check, build }) {
    const page = await open('', { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true });
    await page.waitForSelector('[role=tab]');
    for (const task of ['generate', 'classify', 'chat', 'caption', 'learn']) {
      await page.tap(`#tab-${task}`);
      if (task === 'classify') { await page.tap('#view-classify .example >> nth=1'); await page.waitForSelector('.label'); }
      if (task === 'chat') { await page.tap('#view-chat .example >> nth=0'); await page.waitForSelector('.talk .reply'); }
      if (task === 'caption') { await page.setInputFiles('#caption-file', picture(build, 0)); await page.waitForSelector('.picture-word'); }
      check.ok(await page.evaluate(() => document.documentElement.scrollWidth) <= 360, task);
      const small = await page.evaluate(() => [...document.querySelectorAll('main input:not([type=range], [type=file], [type=radio]), main textarea')].filter((one) => one.offsetParent && parseFloat(getComputedStyle(one).fontSize) < 16).length);
      check.strictEqual(small, 0, `${task}: a phone zooms into fields whose letters are smaller than 16 pixels`);
    }
  },

  async 'every control of every tab has a name'({ open, check, build }) {
    const page = await open();
    await page.waitForSelector('[role=tab]');
    for (const task of ['classify', 'chat', 'caption', 'learn']) {
      await page.click(`#tab-${task}`);
      if (task === 'caption') { await page.setInputFiles('#caption-file', picture(build, 0)); await page.waitForSelector('.picture-word'); }
      const nameless = await page.evaluate(() => [...document.querySelectorAll('button, select, textarea, input, [role=button], canvas[tabindex]')].filter((e) => e.offsetParent
        && !(e.textContent.trim() || e.getAttribute('aria-label') || (e.labels && [...e.labels].some((l) => l.textContent.trim())))).map((e) => e.outerHTML));
      check.deepStrictEqual(nameless, [], task);
    }
  },
};
