// A conversation: turns are kept, and what a reply attended to is shown by turn and by word.
'use strict';
const path = require('path');
module.exports = {
  serverOptions: (build) => ['--model', path.join(build, 'talk')],

  async 'replies in context'({ open, check }) {
    const page = await open('#task=chat');
    await page.waitForSelector('#chat-text');
    const say = async (text, count) => {
      await page.fill('#chat-text', text);
      await page.keyboard.press('Enter');
      await page.waitForFunction((n) => document.querySelectorAll('.talk .reply').length === n, count);
    };
    await say('hello', 1);
    check.strictEqual(await page.textContent('.talk .reply'), 'hi , who are you ?');
    await say('bob', 2);
    check.strictEqual(await page.textContent('.talk .reply:last-child'), 'nice to meet you bob');
    check.strictEqual(await page.$$eval('.over-turns li', (all) => all.length), 3);
    check.strictEqual(await page.isVisible('#chat-attention'), true);
    await page.waitForFunction(() => /task=chat&text=hello/.test(location.hash));
    await page.click('.talk .reply');
    check.strictEqual(await page.$$eval('.over-turns li', (all) => all.length), 1);
    await page.click('text=New conversation');
    check.strictEqual(await page.$$eval('.talk .reply', (all) => all.length), 0);
  },

  async 'the address brings a conversation back'({ open, check }) {
    const page = await open('#task=chat&text=hello%0Ahi+,+who+are+you+%3F%0Aanna');
    await page.waitForFunction(() => document.querySelectorAll('.talk .reply').length === 2);
    check.strictEqual(await page.textContent('.talk .reply:last-child'), 'nice to meet you anna');
  },
};
