// The page of `fovea serve`: a tab for each task that the server has models for, the key, the language, the permanent
// link and the server's troubles. A task is a file that calls Fovea.view(task, make) before this one runs; make(page) gives
//   element                                       what the tab shows
//   models(list, settings, languages)             the task's models as /models lists them, whenever they are known anew
//   follow(wanted), address()                     its state from and for the part of the address behind #
//   again(), keyChanged()                         asks once more: the server is back, another API key is there
//   wordsChanged(), focus(), say(word)            another language; the tab is chosen; a short word of success
// and page has trouble(kind, error), connection, locked() (a key is missing), wrote() (the address has changed) and
// copy(what, button, word).
(function () {
  'use strict';
  const { make } = Fovea;
  const $ = (id) => document.getElementById(id);
  const state = { settings: null, models: [], task: '', languages: [] };
  const views = {};

  // --- trouble ---------------------------------------------------------------------------------------------------
  let hiding = 0;
  function trouble(kind, error) {
    clearTimeout(hiding);
    const say = Fovea.words.trouble;
    const box = $('notice');
    if (!kind) { if (box.dataset.kind !== 'back') box.hidden = true; else hiding = setTimeout(() => { box.hidden = true; }, 2500); return; }
    box.dataset.kind = kind;
    box.hidden = false;
    box.textContent = kind === 'busy' ? say.busy(error.after) : kind === 'refused' || kind === 'failed' ? say[kind](error.text) : say[kind];
    if (kind === 'key') { $('keyform').hidden = false; if (!Fovea.api.key) box.hidden = true; }
    if (kind === 'back') hiding = setTimeout(() => { box.hidden = true; }, 2500);
  }

  // --- the address -------------------------------------------------------------------------------------------------
  const view = () => views[state.task];
  const link = () => Fovea.link.address({ task: state.task === 'generate' ? '' : state.task, ...view().address() });
  let writing = 0;
  function wrote() {
    clearTimeout(writing);
    const before = location.hash; // another one meanwhile is a link that was followed, of which the event is still to come
    writing = setTimeout(() => { if (location.hash === before && before !== link()) history.replaceState(null, '', link()); }, 120);
  }

  // --- what the server is ------------------------------------------------------------------------------------------
  async function connect() {
    const [settings, languages] = await Promise.all([Fovea.api.settings(), Fovea.api.languages()]);
    const own = settings.fovea || {};
    Object.assign(state, { settings, languages, models: own.models || [] });
    if (own.beam) Fovea.beamWidth = own.beam;
    if (settings.keyRequired) $('keyform').hidden = false;
    $('version').textContent = own.version ? `Fovea ${own.version}` : '';
    tell();
    tabs();
    if (!tasks().includes(state.task)) choose(tasks().includes(wish) ? wish : tasks()[0] || 'generate');
  }
  // Each view learns of its models.
  const tell = () => {
    for (const [task, one] of Object.entries(views)) one.models(state.models.filter((model) => model.task === task), state.settings, state.languages);
  };
  const tasks = () => [...new Set([...state.models.map((one) => one.task), ...(state.settings && (state.settings.fovea || {}).learn ? ['learn'] : [])])].filter((task) => views[task]);
  const connection = Fovea.connection({ connect, trouble, back: () => view().again() });

  // --- the tabs ----------------------------------------------------------------------------------------------------
  let wish = ''; // the task that the address names, until it is known whether there is one
  function tabs() {
    const without = state.models.filter((one) => one.task && !views[one.task]);
    $('also').textContent = without.length ? Fovea.words.others(without.map((one) => `${one.name} (/${one.task})`).join(', ')) : '';
    $('tasks').hidden = tasks().length < 2;
    $('tasks').replaceChildren(...tasks().map((task) => make('button', {
      type: 'button', role: 'tab', id: `tab-${task}`, 'aria-selected': String(task === state.task), 'aria-controls': `view-${task}`,
      tabindex: task === state.task ? 0 : -1, onclick: () => { choose(task); wrote(); view().again(); view().focus(); },
    }, Fovea.words.tasks[task])));
    $('tagline').textContent = Fovea.words.taglines[state.task] || '';
  }
  $('tasks').addEventListener('keydown', (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const all = tasks();
    $(`tab-${all[(all.indexOf(state.task) + step + all.length) % all.length]}`).click();
    $(`tab-${state.task}`).focus();
    event.preventDefault();
  });
  function choose(task) {
    state.task = task;
    for (const [name, one] of Object.entries(views)) one.element.hidden = name !== task;
    tabs();
  }

  // --- controls ----------------------------------------------------------------------------------------------------
  const flash = (button, word) => { button.classList.add('done'); const was = button.title; button.title = word; view().say(word); setTimeout(() => { button.classList.remove('done'); button.title = was; }, 1400); };
  const copy = async (what, button, word) => { try { await navigator.clipboard.writeText(what); flash(button, word); } catch (refused) { window.prompt(word, what); } };
  $('link').addEventListener('click', () => { history.replaceState(null, '', link()); copy(location.href, $('link'), Fovea.words.linked); });
  Fovea.themeButton($('theme'));
  Fovea.languageButton($('language'));
  Fovea.api.key = Fovea.remember('key');
  $('key').value = Fovea.api.key;
  $('key').addEventListener('input', () => { Fovea.api.key = $('key').value.trim(); Fovea.remember('key', Fovea.api.key); view().keyChanged(); });
  $('keyform').addEventListener('submit', (event) => { event.preventDefault(); view().again(); });

  // A key is needed and there is none.
  const locked = () => Boolean(state.settings && state.settings.keyRequired && !Fovea.api.key);
  const page = { trouble, connection, wrote, copy, locked };
  for (const [task, start] of Object.entries(Fovea.views)) views[task] = start(page);
  Fovea.onLanguage(() => {
    tabs();
    for (const one of Object.values(views)) one.wordsChanged();
    document.title = view().address().text ? 'Fovea' : `Fovea · ${Fovea.words.taglines[state.task]}`;
  });

  function follow() {
    const wanted = Fovea.link.read();
    wish = views[wanted.task] ? wanted.task : 'generate';
    choose(state.settings && !tasks().includes(wish) ? tasks()[0] || 'generate' : wish);
    view().follow(wanted);
  }
  window.addEventListener('hashchange', follow);
  follow();
  Fovea.setLanguage(Fovea.remember('language') || navigator.language || 'en');
  view().focus();
  connection.reconnect();
})();
