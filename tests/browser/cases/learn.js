// The course: every lesson from start to end in both languages, live in a tab of the server and as a file without one.
'use strict';
const fs = require('fs');
const path = require('path');
const { execFileSync } = require('child_process');
exports.serverOptions = () => ['--learn'];

const LESSONS = ['fixed', 'softmax', 'scores', 'steps', 'qkv', 'root', 'heads', 'encoders', 'backward'];

// Trains the lesson's models, unless the server has them already: then the page goes on by itself.
async function train(page) {
  if (await page.locator('.lesson .train:enabled').count()) await page.locator('.lesson .train').click({ timeout: 2000 }).catch(() => {});
}

// Something of what the reader plays with changes: what is shown must change with it.
async function play(page, id, check) {
  const shown = () => page.locator('.play').evaluate((one) => one.innerHTML);
  const before = await shown();
  const slider = page.locator('.play input[type=range]').first();
  if (await slider.count()) await slider.press('ArrowRight');
  else await page.locator('.play .choice button:not([aria-pressed=true])').first().click();
  await page.waitForFunction((was) => document.querySelector('.play').innerHTML !== was, before);
  const tip = page.locator('.play .tip.drag').first();
  if (await tip.count()) {
    const numbers = await page.locator('.play').innerText();
    const box = await tip.boundingBox();
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width / 2 + 25, box.y + box.height / 2 - 30, { steps: 4 });
    await page.mouse.up();
    check.notStrictEqual(await page.locator('.play').innerText(), numbers, `${id}: dragging a vector changes the numbers`);
  }
  check.strictEqual(await page.locator('.lesson-trouble:visible').count(), 0, `${id} has no trouble`);
}

// A wrong answer first, then the right one.
async function answer(page, check) {
  const id = await page.locator('.lesson').getAttribute('data-lesson');
  const language = (await page.getAttribute('html', 'lang')).slice(0, 2);
  await import(`../../../web/words/lessons/${id}.js`);
  const { dictionaries } = await import('../../../web/lib/language.js');
  const { question } = dictionaries.get(`lessons.${id}`)[language];
  const form = page.locator('form.question');
  const give = async (right) => {
    if (question.choices) await form.locator('input[type=radio]').nth(right ? question.right : (question.right + 1) % question.choices.length).check();
    else await form.locator('input').fill(String(right ? question.number : question.number + 1));
    await form.locator('button[type=submit]').click();
  };
  await give(false);
  check.match(await form.locator('.verdict.wrong').innerText(), new RegExp(question.hint.slice(0, 10).replace(/[.*+?^${}()|[\]\\]/g, '\\$&')));
  await give(true);
  check.ok((await form.locator('.verdict.right').innerText()).includes(question.because));
}

async function walk(page, check, language) {
  for (const [i, id] of LESSONS.entries()) {
    await page.waitForSelector(`.lesson[data-lesson=${id}]`);
    const title = await page.locator('.lesson h2').innerText();
    check.strictEqual(/[\u4e00-\u9fff]/.test(title), language === 'zh', `the title of ${id} is in the language`);
    await train(page);
    await page.waitForFunction(() => document.querySelector('.play > div') && document.querySelector('.play').innerText.length > 20, null, { timeout: 60000 });
    if (await page.locator('.trainer').count()) await page.waitForSelector('.play .box', { timeout: 60000 });
    check.ok(!/undefined|NaN/.test(await page.locator('.lesson').innerText()), `${id}: no hole in the words or numbers`);
    await play(page, id, check);
    await answer(page, check);
    check.strictEqual(await page.locator('.lesson-list button').nth(i).locator('.number').innerText(), '✓');
    if (i + 1 < LESSONS.length) await page.locator('.pager .next').click();
  }
}

for (const language of ['en', 'zh']) {
  exports[`every lesson works on live models (${language})`] = async ({ open, check }) => {
    const page = await open('#task=learn', { locale: language === 'zh' ? 'zh-CN' : 'en-US' });
    await walk(page, check, language);
    check.match(page.url(), /lesson=backward/);
  };
}

exports['typing asks the models at once'] = async ({ open, check }) => {
  const page = await open('#task=learn&lesson=qkv');
  await train(page);
  const guess = () => page.locator('.guesses .bar-name').first().innerText();
  await page.waitForSelector('.guesses');
  check.match(await guess(), /小猫/);
  await page.locator('.field input').fill('小猫在桌子旁边，它好结实');
  await page.waitForFunction(() => /桌子/.test(document.querySelector('.guesses .bar-name').textContent));
  await page.locator('.field input').fill('香蕉在鸭子旁边，它好香甜');
  await page.waitForFunction(() => /香蕉/.test(document.querySelector('.guesses .bar-name').textContent));
  // Words that it does not know are no reason to fall silent.
  await page.locator('.field input').fill('hello world');
  await page.waitForFunction(() => !document.querySelector('.guesses'));
};

exports['the course is one tab among others, with its own address'] = async ({ open, check }) => {
  const page = await open('');
  await page.waitForSelector('#tab-learn');
  await page.locator('#tab-learn').click();
  check.strictEqual(await page.locator('#view-generate').isVisible(), false);
  await page.locator('.lesson-list button').nth(5).click();
  await page.waitForFunction(() => location.hash.includes('lesson=root'));
  const again = await open(new URL(page.url()).hash);
  await again.waitForSelector('.lesson[data-lesson=root]');
};

exports['the file works without a server, in both languages'] = async ({ open, check, build, fovea }) => {
  const file = path.join(build, 'learn.html');
  execFileSync(fovea, ['learn', '--html', file], { stdio: 'ignore' });
  for (const language of ['en', 'zh']) {
    const page = await open(null, { locale: language === 'zh' ? 'zh-CN' : 'en-US', offline: true });
    const asked = [];
    page.on('request', (request) => asked.push(request.url()));
    await page.goto(`file://${file}`);
    await walk(page, check, language);
    check.deepStrictEqual(asked.filter((url) => !url.startsWith('file://')), [], 'nothing is fetched');
    check.strictEqual(asked.length, 1);
    await page.goto(`file://${file}#lesson=heads`);
    await page.waitForSelector('.lesson[data-lesson=heads] .recorded-note');
    check.strictEqual(await page.locator('.field input').evaluate((one) => one.readOnly), true);
    for (const chip of await page.locator('.chips .example').all()) await chip.click();
    for (const heads of ['1', '4', '2']) {
      await page.locator(`.choice button[data-value="${heads}"]`).click();
      for (const one of await page.locator('.silence').all()) await one.click();
    }
    check.strictEqual(await page.locator('.lesson-trouble:visible').count(), 0, 'every recorded question has its answer');
  }
  check.ok(fs.statSync(file).size < 2e6);
};

exports['a phone and the dark show every lesson without scrolling sideways'] = async ({ open, check }) => {
  const page = await open('#task=learn', { viewport: { width: 390, height: 844 }, colorScheme: 'dark' });
  for (const id of LESSONS) {
    await page.goto(page.url().replace(/#.*/, `#task=learn&lesson=${id}`));
    await page.waitForSelector(`.lesson[data-lesson=${id}]`);
    await train(page);
    await page.waitForSelector('.play > div', { timeout: 60000 });
    check.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${id} fits`);
  }
};

exports['a link that is followed while the address is about to be written is not lost'] = async ({ open, check }) => {
  const page = await open('#task=learn');
  await page.waitForSelector('.lesson[data-lesson=fixed]');
  await page.evaluate(async () => { // as when the browser has taken the link and the event waits behind others
    document.querySelector('.pager .next').click(); // its address is written 120 ms later
    history.pushState(null, '', '#task=learn&lesson=scores');
    await new Promise((done) => { setTimeout(done, 250); });
    dispatchEvent(new HashChangeEvent('hashchange'));
  });
  await page.waitForSelector('.lesson[data-lesson=scores]');
  check.ok(page.url().endsWith('lesson=scores'));
};
