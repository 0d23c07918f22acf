// A model without attention: the page translates, shows the beam, and says that there is nothing to look at.
'use strict';
module.exports = {
  async 'no attention is no trouble'({ open, check, url }) {
    const page = await open(null);
    await page.route('**/frontend/settings', async (route) => {
      const answer = await route.fetch();
      const settings = await answer.json();
      for (const model of settings.fovea.models) model.layers = model.heads = 0;
      await route.fulfill({ response: answer, json: settings });
    });
    const asked = [];
    page.on('request', (request) => { if (/translate$/.test(request.url())) asked.push(request.postDataJSON()); });
    await page.context().route('**/attention', async (route) => {
      const answer = await route.fetch();
      const { translatedText, model, log_probability: total, beam } = await answer.json();
      await route.fulfill({ json: { translatedText, model, log_probability: total, source: [], target: [], weights: [], beam } });
    });
    await page.goto(url + '#text=a+man+reads+a+book');
    await page.waitForSelector('.beam-node.best');
    check.match(await page.textContent('#facts'), /no attention/);
    check.strictEqual(await page.isVisible('.map-canvas'), false);
    check.ok(asked.every((fields) => !fields.attention));
    check.match(await page.textContent('#output'), /mann/);
  },
};
