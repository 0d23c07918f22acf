// What one sees, as files; and the same drawing offline, from `fovea view --html`.
'use strict';
const fs = require('fs');
const path = require('path');
const { execFileSync } = require('child_process');

const save = async (page, kind) => {
  const waiting = page.waitForEvent('download');
  await page.getByRole('button', { name: `Save as ${kind}` }).click();
  const download = await waiting;
  return { name: download.suggestedFilename(), bytes: fs.readFileSync(await download.path()) };
};

module.exports = {
  async 'SVG, PNG and JSON'({ open, check, build, fovea }) {
    const page = await open('#text=the+old+cat+loves+the+snow&layer=0&head=1');
    await page.waitForSelector('.heads-grid button');
    const svg = await save(page, 'SVG');
    check.strictEqual(svg.name, 'attention.svg');
    const wrong = await page.evaluate((text) => { const made = new DOMParser().parseFromString(text, 'image/svg+xml'); return made.querySelector('parsererror') ? 'broken' : made.querySelectorAll('rect').length; }, svg.bytes.toString());
    check.ok(wrong > 10, String(wrong));
    const png = await save(page, 'PNG');
    check.strictEqual(png.bytes.subarray(1, 4).toString(), 'PNG');
    check.ok(png.bytes.readUInt32BE(16) > 100);
    const json = await save(page, 'JSON');
    const picture = JSON.parse(json.bytes);
    check.strictEqual(picture.attention.filter((map) => map.kind === 'cross').length, 8);
    check.strictEqual(picture.weights.length, picture.target.length);

    // The file is one that `fovea view` reads, and its page needs no server.
    const file = path.join(build, 'saved.jsonl');
    fs.writeFileSync(file, json.bytes);
    execFileSync(fovea, ['view', file, '--html', path.join(build, 'saved.html')]);
    const offline = await open(null);
    await offline.goto('file://' + path.join(build, 'saved.html') + '#layer=1&head=0');
    check.strictEqual(await offline.getAttribute('.heads-grid [aria-pressed="true"]', 'title'), 'Layer 1, head 0');
    await offline.hover('.tokens.target button >> nth=1');
    check.ok(await offline.locator('.tokens.source button.on').count() > 0);
    check.ok(await offline.locator('.attention-lines path').count() > 0);
  },
  async 'a long file opens offline and stays within its page'({ open, check, build, fovea }) {
    const tokens = (stem, n) => Array.from({ length: n }, (_, i) => `▁${stem}${i}`);
    const [source, target] = [tokens('s', 500), tokens('t', 450)];
    const file = path.join(build, 'long.jsonl');
    fs.writeFileSync(file, JSON.stringify({ source, target, weights: target.map((_, t) => source.map((__, s) => (s === t ? 1 : 0))) }) + '\n');
    execFileSync(fovea, ['view', file, '--html', path.join(build, 'long.html')]);
    const page = await open(null, { viewport: { width: 1000, height: 800 } });
    await page.goto('file://' + path.join(build, 'long.html'));
    check.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'wider than the window');
    await page.hover('.map-canvas', { position: { x: 200, y: 200 } });
    await page.waitForFunction(() => /with weight/.test(document.querySelector('.attention-readout').textContent));
    await page.getByRole('button', { name: 'Whole map' }).click();
    check.ok(await page.evaluate(() => { const map = document.querySelector('.map-scroll'); return map.scrollWidth <= map.clientWidth + 1 && map.scrollHeight <= map.clientHeight + 1; }), 'the whole map is in visibility');
  },
};
