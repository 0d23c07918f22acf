// The sentences of a worked example. A message is a text that is the same in every language, or a key of
// words/lesson_words.json with values for its {placeholders}; src/view/lesson/words.cpp is the same for the terminal.
import { make } from '../lib/dom.js';
import { currentLanguage } from '../lib/language.js';
import dictionary from '../words/lesson_words.json';

// A text in several lines is a list.
function entry(key) {
  const found = dictionary[key];
  const text = typeof found === 'string' ? found : found[currentLanguage()];
  return typeof text === 'string' ? text : text.join(entry('space'));
}

export function messageText(message) {
  if (typeof message === 'string') return message;
  return entry(message.key).replace(/\{(\w+)\}/g, (_, name) => messageText(message.values[name]));
}

export const paragraph = (sentences) => sentences.map(messageText).join(entry('space'));

// W_Q as W with a subscript Q.
export const symbols = (text) =>
  text.split(/(_[A-Za-z0-9]+)/).map((part) => (/^_./.test(part) ? make('sub', {}, part.slice(1)) : part));
