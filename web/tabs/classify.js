// Classification: a text on the left, the labels with their probabilities on the right, below the words that
// decided. Attention is one weight per word, the same for all labels. Saliency (gradient times input) is one value
// per word and label; positive values count for the label. The address: task=classify&text=…&model=NAME&label=LABEL.
import { make } from '../lib/dom.js';
import { api } from '../server/api.js';
import { decisionRows, labelBars } from '../views/classification.js';
import { appWords } from '../words/app.js';
import { classifyWords } from '../words/classify.js';
import { showExamples } from './examples.js';
import { modelTab } from './model_tab.js';

function create(page) {
  let limit = 0; // characters
  let shown = null; // the answer, with its text
  let chosen = ''; // a label; '': the likeliest
  const text = make('textarea', {
    id: 'classify-text',
    spellcheck: 'false',
    autocapitalize: 'off',
    dir: 'auto',
    'data-word-placeholder': 'app.write',
  });
  const count = make('span', { class: 'aside count' });
  const examples = make('div', { class: 'examples' });
  const clear = make('button', { type: 'button', class: 'quiet', 'data-word': 'app.clear', hidden: true });
  const labels = make('div', { id: 'labels', class: 'labels', role: 'group', 'data-word-label': 'classify.labels' });
  const waiting = make('p', { class: 'waiting' });
  const words = make('div', { id: 'decided' });
  const facts = make('span', { class: 'aside' });

  const { tab, element, chooser, busy, model, ready, submit, waitingText } = modelTab(page, {
    task: 'classify',
    send: api.classify,
    answered(reply, request) {
      shown = { ...reply, text: request.q };
      draw();
    },
    modelsChanged(settings) {
      limit = Number(settings.charLimit) > 0 ? Number(settings.charLimit) : 0;
      writeExamples();
      if (text.value.trim() === '') empty();
    },
    open(parameters) {
      text.value = parameters.text || '';
      chosen = parameters.label || '';
      if (ready()) changed(0);
    },
    address: () => ({ text: text.value, label: chosen }),
    ask(delay) {
      writeExamples();
      changed(delay);
    },
    redraw() {
      writeExamples();
      if (shown) draw();
      else empty();
    },
    focus() {
      if (!text.value) text.focus({ preventScroll: true });
    },
    notify(word) {
      count.textContent = word;
      setTimeout(() => {
        count.textContent = '';
      }, 1400);
    },
  });
  const field = make('label', { class: 'visually-hidden', for: 'classify-text', 'data-word': 'app.yours' });
  const left = make(
    'div',
    { class: 'pane' },
    make('div', { class: 'pane-head' }, ...chooser, clear),
    make('div', { class: 'sheet' }, field, text),
    make('div', { class: 'pane-foot' }, examples, count),
  );
  const title = make('span', { class: 'pane-title', 'data-word': 'classify.labels' });
  const right = make(
    'div',
    { class: 'pane second' },
    make('div', { class: 'pane-head' }, title, busy),
    make('div', { class: 'sheet' }, labels, waiting),
  );
  const desk = make('section', { class: 'desk', 'aria-busy': 'false' }, left, right);
  const decided = make('h2', { id: 'decided-title', 'data-word': 'classify.decided' });
  const card = make(
    'section',
    { class: 'card', hidden: true, 'aria-labelledby': 'decided-title' },
    make('div', { class: 'section-head' }, decided, facts),
    words,
  );
  element.append(desk, card);

  function changed(delay) {
    const length = [...text.value].length;
    clear.hidden = text.value === '';
    count.textContent = limit > 0 && length > limit * 0.7 ? appWords.count(length, limit) : '';
    desk.classList.toggle('long', text.value.length > 260);
    const nothing = text.value.trim() === '' || !model() || page.locked();
    if (nothing) empty();
    labels.classList.toggle('stale', !nothing);
    examples.hidden = text.value !== '';
    submit(nothing ? null : request(), delay);
    page.addressChanged();
  }
  const request = () => ({
    q: text.value,
    model: model().name,
    attention: Boolean(model().attention),
    ...(model().saliency ? { saliency: true } : {}),
  });
  function empty() {
    shown = null;
    labels.replaceChildren();
    card.hidden = true;
    waiting.hidden = false;
    waiting.textContent = waitingText(classifyWords.labelsYet, classifyWords.noClassifier);
  }

  // The labels as bars, the likeliest first; the words below are those of the chosen label.
  function draw() {
    const all = Object.entries(shown.probabilities).map(([name, probability]) => ({ label: name, probability }));
    waiting.hidden = all.length > 0;
    if (!all.length) waiting.textContent = classifyWords.noWords;
    const label = shown.probabilities[chosen] === undefined ? shown.label : chosen;
    labels.classList.remove('stale');
    labels.replaceChildren(
      ...labelBars(all, label, (name) => {
        chosen = name === shown.label ? '' : name;
        draw();
        page.addressChanged();
      }),
    );
    const rows = decisionRows(shown, label);
    words.replaceChildren(...rows);
    card.hidden = !rows.length;
    facts.textContent = shown.model || '';
  }

  function writeExamples() {
    showExamples(examples, (model() || {}).examples || [], (one) => {
      text.value = one;
      text.focus();
      changed(0);
    });
  }
  const edited = () => {
    chosen = '';
    changed();
  };
  text.addEventListener('input', (event) => {
    if (!event.isComposing) edited();
  });
  text.addEventListener('compositionend', edited);
  clear.addEventListener('click', () => {
    text.value = '';
    changed(0);
    text.focus();
  });
  return tab;
}

export const classifyTab = { task: 'classify', words: classifyWords, create };
