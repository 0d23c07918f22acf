import { make } from '../lib/dom.js';
import { appWords } from '../words/app.js';

// Shows lines to try as buttons in `element`.
export function showExamples(element, lines, choose) {
  const button = (line) =>
    make('button', { type: 'button', class: 'example', dir: 'auto', onclick: () => choose(line) }, line);
  const title = lines.length ? [make('span', { class: 'aside' }, appWords.tryOne)] : [];
  element.replaceChildren(...title, ...lines.map(button));
}
