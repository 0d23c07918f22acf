import { make } from '../lib/dom.js';
import { learnWords } from '../words/learn.js';

const WITHIN = 0.005; // of a number that is asked for

// Both return the element and check(): true, false or, where nothing is answered, null.
function choiceInput(id, { ask, choices, right }) {
  const options = choices.map((text, i) => {
    const button = make('input', { type: 'radio', name: `answer-${id}`, value: i });
    return make('label', { class: 'option' }, button, make('span', {}, text));
  });
  const element = make('div', { class: 'options', role: 'radiogroup', 'aria-label': ask }, ...options);
  return {
    element,
    check() {
      const chosen = element.querySelector('input:checked');
      return chosen && Number(chosen.value) === right;
    },
  };
}
function numberInput({ number, within }) {
  const input = make('input', {
    type: 'text',
    inputmode: 'decimal',
    class: 'text short',
    'aria-label': learnWords.answer,
    placeholder: learnWords.number,
    autocomplete: 'off',
  });
  return {
    element: make('p', {}, input),
    check() {
      const text = input.value.trim();
      if (text === '') return null;
      return Math.abs(Number(text.replace('−', '-').replace(',', '.')) - number) <= (within || WITHIN);
    },
  };
}

// The question of a lesson; onsolved() is called at the right answer.
export function questionForm(lesson, onsolved) {
  const { question } = lesson.words;
  const input = question.choices ? choiceInput(lesson.id, question) : numberInput(question);
  const verdict = make('p', { class: 'verdict', role: 'status' });
  const button = make('button', { type: 'submit', class: 'primary' }, learnWords.check);
  const title = make('h3', {}, learnWords.question);
  const form = make('form', { class: 'question' }, title, make('p', {}, question.ask), input.element, button, verdict);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const right = input.check();
    if (right === null) return;
    verdict.className = right ? 'verdict right' : 'verdict wrong';
    const [word, more] = right ? [learnWords.right, question.because] : [learnWords.wrong, question.hint];
    verdict.textContent = `${word} ${more}`;
    if (right) onsolved();
  });
  return form;
}
