// The common part of a tab whose task is done by one model that the reader chooses.
import { make } from '../lib/dom.js';
import { createAsker } from '../server/asker.js';
import { appWords } from '../words/app.js';

// modelTab(page, { task, send, answered, modelsChanged, open, address, ...more }):
//   send(request, signal)     asks the server, a promise
//   answered(reply, request)  shows the answer
//   modelsChanged(settings)   the models are known, or others than before
//   open(parameters)          takes over the address; ready() says whether the models are known
//   address()                 the tab's part of the address, without the model
//   more                      ask, redraw, focus and notify, as tabs/index.js describes them
// What it returns: tab (for tabs/index.js), element, chooser (the elements with which the reader chooses the model),
// busy (an element that shows that the server is asked), model(), ready(), submit(request or null, delay or
// undefined while typing) and waitingText(text before the first answer, text without models).
export function modelTab(page, { task, send, answered, modelsChanged, open, address, ...more }) {
  let models = [];
  let ready = false;
  let wanted = ''; // the model that the address names
  const element = make('div', { id: `view-${task}`, hidden: true });
  const box = make('select', { id: `${task}-model`, class: 'bare', onchange: () => more.ask(0) });
  const label = make('label', { class: 'visually-hidden', for: `${task}-model`, 'data-word': 'app.model' });
  const busy = make('span', { class: 'busy', 'aria-hidden': 'true' });
  const asker = createAsker({
    trouble: page.trouble,
    connection: page.connection,
    busy(on) {
      busy.classList.toggle('on', on);
      element.firstElementChild.setAttribute('aria-busy', String(on));
    },
    async run(request, signal, came) {
      const reply = await send(request, signal);
      if (signal.aborted) return;
      came();
      answered(reply, request);
    },
  });
  const choose = (name) => {
    if (models.some((one) => one.name === name)) box.value = name;
  };
  const model = () => models.find((one) => one.name === box.value) || models[0];

  const tab = {
    ...more,
    element,
    models(list, settings) {
      const before = wanted || box.value;
      ready = true;
      models = list;
      box.replaceChildren(...list.map((one) => make('option', { value: one.name }, one.name)));
      choose(before);
      box.disabled = list.length < 2;
      modelsChanged(settings);
    },
    open(parameters) {
      wanted = parameters.model || '';
      choose(wanted);
      open(parameters);
    },
    address: () => ({ ...address(), model: models.length > 1 ? box.value : '' }),
  };
  return {
    tab,
    element,
    chooser: [label, box],
    busy,
    model,
    ready: () => ready,
    submit: (request, delay) => (delay === undefined ? asker.typed(request) : asker.ask(request, delay)),
    waitingText: (before, without) =>
      !ready ? appWords.loading : page.locked() ? appWords.keyHint : model() ? before : without,
  };
}
