// The page of `fovea serve`: a tab for each task that the server has models for (tabs/index.js), the API key, the
// language, the permanent link and failures of the server.
import '../styles/base.css';
import '../styles/attention.css';
import '../styles/beam.css';
import '../styles/training.css';
import '../styles/app.css';
import '../styles/classify.css';
import '../styles/chat.css';
import '../styles/picture.css';
import '../styles/learn.css';
import { make } from '../lib/dom.js';
import { connectLanguageButton, onLanguageChange, startLanguage } from '../lib/language.js';
import { remember } from '../lib/storage.js';
import { connectThemeButton } from '../lib/theme.js';
import { api } from '../server/api.js';
import { createConnection } from '../server/connection.js';
import { linkAddress, readLink } from '../server/link.js';
import { searchOptions } from '../server/translation.js';
import { tabs } from '../tabs/index.js';
import { appWords } from '../words/app.js';
import '../words/page.js';

const $ = (id) => document.getElementById(id);
const SHOWN = 2500; // milliseconds that the notice is shown when a trouble is over
const SOON = 120; // milliseconds from a change to the address that names it
const server = { settings: null, models: [], languages: [] };
const created = {}; // tabs by task
let current = ''; // the task whose tab is shown
let wished = ''; // the task that the address names, until the server's models are known

// --- trouble ---
let hiding = 0;
function trouble(kind, error) {
  clearTimeout(hiding);
  const box = $('notice');
  const hideSoon = () => {
    hiding = setTimeout(() => {
      box.hidden = true;
    }, SHOWN);
  };
  if (!kind) {
    if (box.dataset.kind === 'back') hideSoon();
    else box.hidden = true;
    return;
  }
  const text = appWords.trouble[kind];
  box.dataset.kind = kind;
  box.hidden = false;
  box.textContent = kind === 'busy' ? text(error.after) : typeof text === 'function' ? text(error.text) : text;
  if (kind === 'key') {
    $('keyform').hidden = false;
    if (!api.key) box.hidden = true;
  }
  if (kind === 'back') hideSoon();
}

// --- the address ---
const tab = () => created[current];
const address = () => linkAddress({ task: current === 'generate' ? '' : current, ...tab().address() });
let writing = 0;
function addressChanged() {
  clearTimeout(writing);
  const before = location.hash; // if it differs by then, the reader followed a link
  writing = setTimeout(() => {
    if (location.hash === before && before !== address()) history.replaceState(null, '', address());
  }, SOON);
}
function openAddress() {
  const parameters = readLink();
  wished = created[parameters.task] ? parameters.task : 'generate';
  choose(server.settings && !tasks().includes(wished) ? tasks()[0] || 'generate' : wished);
  tab().open(parameters);
}

// --- what the server has ---
async function connect() {
  const [settings, languages] = await Promise.all([api.settings(), api.languages()]);
  const own = settings.fovea || {};
  Object.assign(server, { settings, languages, models: own.models || [] });
  if (own.beam) searchOptions.beamWidth = own.beam;
  if (settings.keyRequired) $('keyform').hidden = false;
  $('version').textContent = own.version ? `Fovea ${own.version}` : '';
  for (const [task, one] of Object.entries(created)) {
    one.models(
      server.models.filter((model) => model.task === task),
      settings,
      languages,
    );
  }
  drawTabs();
  if (!tasks().includes(current)) choose(tasks().includes(wished) ? wished : tasks()[0] || 'generate');
}
// The tasks of the server that have a tab.
function tasks() {
  const named = server.models.map((one) => one.task);
  if (server.settings && (server.settings.fovea || {}).learn) named.push('learn');
  return [...new Set(named)].filter((task) => created[task]);
}
const connection = createConnection({ connect, trouble, back: () => tab().ask?.(0) });

// --- the tabs ---
const wordsOf = (task) => tabs.find((one) => one.task === task).words;
function drawTabs() {
  const without = server.models.filter((one) => one.task && !created[one.task]);
  const names = without.map((one) => `${one.name} (/${one.task})`).join(', ');
  $('also').textContent = without.length ? appWords.others(names) : '';
  $('tasks').hidden = tasks().length < 2;
  $('tasks').replaceChildren(...tasks().map(tabButton));
  $('tagline').textContent = current ? wordsOf(current).tagline : '';
}
const tabButton = (task) =>
  make(
    'button',
    {
      type: 'button',
      role: 'tab',
      id: `tab-${task}`,
      'aria-selected': String(task === current),
      'aria-controls': `view-${task}`,
      tabindex: task === current ? 0 : -1,
      onclick() {
        choose(task);
        addressChanged();
        tab().ask?.(0);
        tab().focus?.();
      },
    },
    wordsOf(task).tab,
  );
$('tasks').addEventListener('keydown', (event) => {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!step) return;
  const all = tasks();
  $(`tab-${all[(all.indexOf(current) + step + all.length) % all.length]}`).click();
  $(`tab-${current}`).focus();
  event.preventDefault();
});
function choose(task) {
  current = task;
  for (const [name, one] of Object.entries(created)) one.element.hidden = name !== task;
  drawTabs();
}

// --- controls ---
function flash(button, word) {
  const title = button.title;
  button.classList.add('done');
  button.title = word;
  tab().notify?.(word);
  setTimeout(() => {
    button.classList.remove('done');
    button.title = title;
  }, 1400);
}
async function copy(text, button, word) {
  try {
    await navigator.clipboard.writeText(text);
    flash(button, word);
  } catch (refused) {
    window.prompt(word, text);
  }
}
$('link').addEventListener('click', () => {
  history.replaceState(null, '', address());
  copy(location.href, $('link'), appWords.linked);
});
connectThemeButton($('theme'));
connectLanguageButton($('language'));
api.key = remember('key');
$('key').value = api.key;
$('key').addEventListener('input', () => {
  api.key = $('key').value.trim();
  remember('key', api.key);
  tab().ask?.(400);
});
$('keyform').addEventListener('submit', (event) => {
  event.preventDefault();
  tab().ask?.(0);
});

const locked = () => Boolean(server.settings && server.settings.keyRequired && !api.key);
const page = { trouble, connection, addressChanged, copy, locked };
for (const one of tabs) {
  created[one.task] = one.create(page);
  $('tabs').append(created[one.task].element);
}
onLanguageChange(() => {
  drawTabs();
  for (const one of Object.values(created)) one.redraw?.();
  document.title = tab().address().text ? 'Fovea' : `Fovea · ${wordsOf(current).tagline}`;
});
window.addEventListener('hashchange', openAddress);
openAddress();
startLanguage();
tab().focus?.();
connection.reconnect();
