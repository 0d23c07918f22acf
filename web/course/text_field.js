import { make } from '../lib/dom.js';
import { learnWords } from '../words/learn.js';

const PAUSE = 120; // milliseconds after the last key until the text is asked for

// A text to change, or, if it is read-only, one of the recorded examples: { element, value }.
export function textField({ name, value, examples, readOnly, onchange }) {
  const input = make('input', {
    type: 'text',
    class: 'text',
    'aria-label': name,
    spellcheck: 'false',
    autocapitalize: 'off',
    maxlength: 60,
  });
  input.value = value;
  input.readOnly = readOnly;
  let timer = 0;
  input.addEventListener('input', (event) => {
    clearTimeout(timer);
    if (!event.isComposing && input.value.trim()) timer = setTimeout(() => onchange(input.value), PAUSE);
  });
  const set = (text) => {
    input.value = text;
    onchange(text);
  };
  const chip = (text) => make('button', { type: 'button', class: 'example', onclick: () => set(text) }, text);
  const group = { class: 'chips', role: 'group', 'aria-label': learnWords.examples };
  const chips = examples.length > 1 ? [make('p', group, ...examples.map(chip))] : [];
  const label = make('label', {}, make('span', { class: 'slider-name' }, name), input);
  return {
    element: make('div', { class: 'field' }, label, ...chips),
    get value() {
      return input.value;
    },
    set(text) {
      input.value = text;
    },
  };
}
