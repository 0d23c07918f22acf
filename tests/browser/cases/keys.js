// A server that wants a key: the page asks for it, says when it is wrong, and keeps it.
'use strict';
const fs = require('fs');
const path = require('path');

module.exports = {
  serverOptions(build) {
    const file = path.join(build, 'keys');
    fs.writeFileSync(file, 'right\n');
    return ['--api-keys', file];
  },
  async 'a key is asked for, checked and kept'({ open, check, errors }) {
    const page = await open('#text=a+man+reads+a+book');
    const field = page.getByLabel('API key');
    await field.waitFor();
    await field.fill('wrong');
    await page.waitForSelector('#notice:not([hidden])');
    check.match(await page.textContent('#notice'), /does not accept/);
    check.strictEqual(await page.textContent('#output'), '');
    await field.fill('right');
    await page.waitForFunction(() => /mann/.test(document.querySelector('#output').textContent));
    await page.waitForSelector('#search:not([hidden])');
    check.strictEqual(await page.isVisible('#notice'), false);
    await page.reload();
    await page.waitForFunction(() => /mann/.test(document.querySelector('#output').textContent));
    errors.splice(0); // the browser itself notes the answers 403
  },
};
