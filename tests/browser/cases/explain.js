// The page of `fovea explain --html`: a number that is pointed at shows its sum, with the row and column it came from.
'use strict';
const fs = require('fs');
const os = require('os');
const path = require('path');
const { execFileSync } = require('child_process');

module.exports = {
  async 'a sum adds up, and its row and column come along when they are out of view'({ open, check, fovea }) {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'fovea-explain-'));
    const file = path.join(folder, 'explain.html');
    execFileSync(fovea, ['explain', 'the U.S. has 3.14 of it', '--html', file]);
    const page = await open(null, { viewport: { width: 900, height: 420 } });
    await page.goto('file://' + file);
    fs.rmSync(folder, { recursive: true });
    check.match(await page.textContent('.lead'), /“the U\.S\. has 3\.14 of it”: 6 tokens/);
    for (const [name, operands] of [['Q.0', ['X[U.S.]', 'WQ, 1']], ['S.0', ['Q[U.S.]', 'K[the]']], ['Z.0', ['A[U.S.]', 'V, 1']]]) {
      const cell = page.locator(`[data-matrix="${name}"] tr`).filter({ has: page.locator('th[scope=row]', { hasText: /^U\.S\.$/ }) }).locator('td').first();
      await cell.scrollIntoViewIfNeeded();
      await cell.focus();
      await page.waitForSelector('#working:not([hidden])');
      const said = await page.textContent('#working');
      check.doesNotMatch(said, /_/, 'W_Q is typeset');
      const [terms, sum] = said.replaceAll('−', '-').slice(said.indexOf('] = ') + 4).split(' = ');
      const total = terms.split(' + ').reduce((all, term) => all + term.split('·').reduce((a, b) => a * Number(b.replace(/[()]/g, '')), 1), 0);
      // A and V are shown to two decimals.
      check.ok(Math.abs(total - Number(sum)) < (name === 'Z.0' ? 0.06 : 0.011), said);
      const shown = await page.$$eval('#working .operand b', (all) => all.map((one) => one.textContent));
      check.ok(shown.every((one) => operands.includes(one)), shown.join());
    }
  },
};
