// Inside the served model: kinds, heads in colour, changes to the model, other translations, its own numbers.
'use strict';
const SENTENCE = 'three birds find an apple in the morning';
const whole = async (open, more = '') => {
  const page = await open('#text=' + encodeURIComponent(SENTENCE) + more);
  await page.waitForSelector('.heads-grid button');
  return page;
};

module.exports = {
  async 'every kind of attention can be chosen, and the address keeps it'({ open, check }) {
    const page = await whole(open);
    check.deepStrictEqual(await page.$$eval('.choose-kind option', (all) => all.map((one) => one.value)), ['cross', 'encoder', 'decoder']);
    await page.selectOption('.choose-kind', 'encoder');
    check.match(await page.textContent('.attention-side >> nth=0'), /Keys/);
    const sides = await page.evaluate(() => ['source', 'target'].map((side) => [...document.querySelectorAll(`.tokens.${side} button`)].map((b) => b.firstChild.textContent).join(' ')));
    check.strictEqual(sides[0], sides[1], 'a text attends to itself');
    await page.waitForFunction(() => /kind=encoder/.test(location.hash));
    await page.selectOption('.choose-kind', 'decoder');
    const first = await page.textContent('.tokens.target button >> nth=0');
    check.match(first, /start/);
  },

  async 'several heads in colour at once'({ open, check }) {
    const page = await whole(open, '&layer=1');
    await page.click('.colour');
    check.strictEqual(await page.locator('.colour-chips .chip').count(), 4);
    // Under the pointer too, the pressed button can be read.
    const ink = await page.$eval('.colour', (one) => { const { color, backgroundColor } = getComputedStyle(one); return [color, backgroundColor]; });
    check.notStrictEqual(ink[0], ink[1]);
    const colours = () => page.evaluate(() => new Set([...document.querySelectorAll('.attention-lines path')].map((p) => p.style.stroke)).size);
    check.strictEqual(await colours(), 4);
    await page.click('.chip >> nth=0');
    check.strictEqual(await colours(), 3);
    check.strictEqual(await page.getAttribute('.chip >> nth=0', 'aria-pressed'), 'false');
  },

  async 'a word is hidden, an edge cut, a head silenced: the translation follows, and is undone'({ open, check }) {
    const page = await whole(open);
    // Hiding a piece may leave the words as they are, but not their probability.
    await page.waitForFunction(() => /log-probability/.test(document.querySelector('#facts').textContent));
    const before = await page.textContent('#facts');
    await page.click('.tokens.source button >> nth=1');
    await page.click('[data-do=mask]');
    await page.waitForSelector('.changes li');
    check.match(await page.textContent('.changes li'), /hidden/);
    await page.waitForFunction((was) => document.querySelector('#facts').textContent !== was, before);
    await page.click('.changes button');
    await page.waitForFunction((was) => document.querySelector('#facts').textContent === was, before);
    await page.getByRole('button', { name: 'Layer 1, head 2' }).click();
    await page.click('[data-do=silence]');
    await page.waitForSelector('.changes li');
    check.match(await page.textContent('.changes li'), /layer 1 head 2/);
    await page.click('[data-do=undo]');
    check.strictEqual(await page.locator('.changes li').count(), 0);
  },

  async 'in a text of two sentences a change is made in its own sentence, whose numbers can be read'({ open, check }) {
    const page = await open('#text=' + encodeURIComponent('a man sees the house\ntwo dogs'));
    await page.waitForSelector('.heads-grid button');
    const names = () => page.$$eval('.tokens.source button', (all) => all.map((one) => one.firstChild.textContent));
    const before = (await names()).indexOf('‹end›') + 1;
    const asked = page.waitForRequest((request) => /attention$/.test(request.url()) && request.postDataJSON().interventions.length > 0);
    await page.locator('.tokens.source button').nth(before).click();
    await page.click('[data-do=mask]');
    check.deepStrictEqual((await asked).postDataJSON().interventions, [{ do: 'mask', token: 0, line: 2 }]);
    await page.waitForSelector('.changes li');
    check.strictEqual(await page.locator('.other:not([disabled])').count(), 0, 'which sentence another translation changes is not known');
    await page.click('#explain');
    const sheet = page.frameLocator('.explain-sheet');
    await sheet.locator('section.step').first().waitFor();
    check.match(await sheet.locator('.lead').textContent(), /“two dogs”/);
  },

  async 'a cell of the map can be cut'({ open, check }) {
    const page = await whole(open);
    await page.locator('#view-generate .map-canvas').scrollIntoViewIfNeeded();
    const box = await page.locator('#view-generate .map-canvas').boundingBox();
    await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
    await page.click('[data-do=cut]');
    await page.waitForSelector('.changes li');
    check.match(await page.textContent('.changes li'), /✂/);
  },

  async 'another translation is chosen, and its attention shown'({ open, check }) {
    const page = await whole(open);
    await page.waitForSelector('.other');
    const other = await page.textContent('.other >> nth=0');
    await page.click('.other >> nth=0');
    await page.waitForFunction((wanted) => document.querySelector('#output').textContent.trim() === wanted.trim(), other);
    check.ok(await page.isVisible('.map-canvas'));
  },

  async 'the numbers of the model, played step by step'({ open, check }) {
    const page = await whole(open, '&kind=encoder&layer=1&head=2');
    await page.click('#explain');
    const sheet = page.frameLocator('.explain-sheet');
    await sheet.locator('section.step').first().waitFor();
    check.match(await sheet.locator('h1').textContent(), /layer 1, head 2/);
    const all = await sheet.locator('section.step').count();
    check.ok(all >= 9, 'steps: ' + all);
    await sheet.locator('.player .on').click();
    check.strictEqual(await sheet.locator('section.step:not([hidden])').count(), 1);
    await sheet.locator('.player .whole').click();
    check.strictEqual(await sheet.locator('section.step:not([hidden])').count(), all);
    await page.click('.shut');
    check.strictEqual(await page.isVisible('.explain-dialog'), false);
  },

  async 'the numbers are explained in the language of the page, and tokens have the names of the page'({ open, check }) {
    const page = await open('#text=' + encodeURIComponent(SENTENCE) + '&layer=1&head=2', { locale: 'zh-CN' });
    await page.waitForSelector('.heads-grid button');
    await page.click('#explain');
    const sheet = page.frameLocator('.explain-sheet');
    await sheet.locator('section.step').first().waitFor();
    check.match(await sheet.locator('h1').textContent(), /交叉注意力，第 1 层，头 2/);
    const text = (await sheet.locator('section.step').allInnerTexts()).join('\n');
    check.match(text, /从分数到权重/);
    check.doesNotMatch(text, /▁|<\/s>|The |softmax\(scores/);
  },

  async 'examples are lines of the model, and a file can be dropped'({ open, check }) {
    const page = await open();
    await page.waitForSelector('.example');
    await page.evaluate(() => {
      const data = new DataTransfer();
      data.items.add(new File(['two dogs'], 'text.txt', { type: 'text/plain' }));
      document.getElementById('generate').dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }));
    });
    await page.waitForFunction(() => document.getElementById('text').value === 'two dogs');
  },
};
