// The beam: as many hypotheses as it says, whole words in word mode, and nothing cut off without a sign of it.
'use strict';
const SENTENCE = 'a little girl finds the river in the morning';

module.exports = {
  async 'at each step as many hypotheses go on as the page says'({ open, check }) {
    const page = await open('#text=' + encodeURIComponent(SENTENCE));
    await page.waitForSelector('#search:not([hidden])');
    const said = Number(/the (\d+) best/.exec(await page.textContent('#beam-lead'))[1]);
    const answer = await page.evaluate((q) => fetch('attention', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ q, source: 'en', target: 'de', beam: 5 }) }).then((r) => r.json()), SENTENCE);
    const going = new Map();
    for (const node of answer.beam.nodes) if (!node.finished) going.set(node.step, (going.get(node.step) || 0) + 1);
    check.ok(Math.max(...going.values()) <= said, [...going].join(' '));
  },

  async 'in word mode the beam shows whole words'({ open, check }) {
    const page = await open('#text=' + encodeURIComponent(SENTENCE) + '&unit=words');
    await page.waitForSelector('#search:not([hidden])');
    const best = await page.$$eval('.beam-node.best text', (all) => all.map((one) => one.textContent));
    check.strictEqual(best.slice(1, -1).join(' '), await page.textContent('#output'));
    const names = await page.$$eval('.beam-node text', (all) => all.map((one) => one.textContent));
    check.deepStrictEqual(names.filter((name) => name.startsWith('·')), []);
    await page.click('#unit [data-unit=pieces]');
    await page.waitForFunction(() => [...document.querySelectorAll('.beam-node text')].some((one) => one.textContent.startsWith('·')));
  },

  async 'pieces are joined where a word ends on one path and goes on on another'({ check }) {
    const { beamOfWords } = await import('../../../web/views/beam_words.js');
    const node = (id, parent, token, finished = false) => ({ id, parent, step: id, token, log_probability: -id, finished });
    const words = beamOfWords({ nodes: [node(0, -1, ''), node(1, 0, '▁Haus'), node(2, 1, 'es'), node(3, 1, '▁rot'), node(4, 2, '.'), node(5, 4, '</s>', true), node(6, 1, 'tü')], best: [0, 1, 2, 4, 5] });
    check.deepStrictEqual(words.nodes.map((one) => one.word || one.token).sort(), ['', '.', '</s>', 'Haus', 'Hauses'].sort());
    const byId = new Map(words.nodes.map((one) => [one.id, one]));
    check.deepStrictEqual(words.best.map((id) => byId.get(id).word || byId.get(id).token), ['', 'Hauses', '.', '</s>']);
  },

  async 'a beam that is too wide is made smaller or fades where there is more'({ open, check }) {
    const wide = await open('#text=' + encodeURIComponent(SENTENCE) + '&unit=words');
    await wide.waitForSelector('#search:not([hidden])');
    check.ok(await wide.evaluate(() => document.querySelector('.beam-tree').getBoundingClientRect().width <= document.querySelector('.beam-scroll').clientWidth + 1));
    const phone = await open('#text=' + encodeURIComponent(SENTENCE), { viewport: { width: 390, height: 800 } });
    await phone.waitForSelector('#search:not([hidden])');
    await phone.waitForSelector('.beam-scroll.more-right:not(.more-left)');
    await phone.evaluate(() => { document.querySelector('.beam-scroll').scrollLeft = 1e6; });
    await phone.waitForSelector('.beam-scroll.more-left:not(.more-right)');
  },
};
