// The text of the pages in English and Chinese. Each module of words/ calls dictionary(subject, { en, zh }) and
// exports the result: an object whose properties are the text in the current language.
import { remember } from './storage.js';

export const dictionaries = new Map(); // by subject: { en, zh, words }
const listeners = [];
let current = 'en';

const known = (language) => (String(language).slice(0, 2).toLowerCase() === 'zh' ? 'zh' : 'en');
export const currentLanguage = () => current;
export const onLanguageChange = (listener) => listeners.push(listener);

export function dictionary(subject, languages) {
  const words = {};
  for (const key of Object.keys(languages.en)) {
    Object.defineProperty(words, key, { enumerable: true, get: () => languages[current][key] });
  }
  dictionaries.set(subject, { ...languages, words });
  return words;
}

// The text with the name SUBJECT.KEY.
function lookUp(name) {
  const [subject, key] = name.split('.');
  return dictionaries.get(subject).words[key];
}

// Elements carry data-word="SUBJECT.KEY" for their text, data-word-label for their label and tooltip, and
// data-word-placeholder for the hint of a field.
function writeWords() {
  for (const element of document.querySelectorAll('[data-word]')) element.textContent = lookUp(element.dataset.word);
  for (const element of document.querySelectorAll('[data-word-label]')) {
    const label = lookUp(element.dataset.wordLabel);
    element.setAttribute('aria-label', label);
    if (element.localName === 'button') element.title = label;
  }
  for (const element of document.querySelectorAll('[data-word-placeholder]')) {
    element.placeholder = lookUp(element.dataset.wordPlaceholder);
  }
}

export function setLanguage(language) {
  current = known(language);
  document.documentElement.lang = current === 'zh' ? 'zh-Hans' : 'en';
  writeWords();
  listeners.forEach((listener) => listener());
}

// The language that the reader chose, or that of the browser.
export const startLanguage = () => setLanguage(remember('language') || navigator.language || 'en');

export function connectLanguageButton(button) {
  button.addEventListener('click', () => {
    setLanguage(current === 'zh' ? 'en' : 'zh');
    remember('language', current);
  });
}
