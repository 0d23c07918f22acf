// The head of a page in one file: its theme button, a language button, and its title and lead in the current
// language. title and lead are functions that return text; language is what to begin with, by default the reader's
// choice.
import { make } from './dom.js';
import { connectLanguageButton, onLanguageChange, setLanguage, startLanguage } from './language.js';
import { connectThemeButton } from './theme.js';
import '../words/page.js';

export function addPageTools({ title, lead, language } = {}) {
  const head = document.querySelector('.page-head');
  const heading = head.querySelector('h1');
  let line = head.querySelector('.lead');
  if (lead && !line) {
    line = make('p', { class: 'lead' });
    heading.after(line);
  }
  onLanguageChange(() => {
    if (title) document.title = heading.textContent = title();
    if (lead) line.textContent = lead();
  });
  const theme = make('button', { type: 'button', class: 'theme-button', 'data-word-label': 'page.theme' }, '◐');
  connectThemeButton(theme);
  const other = make('button', { type: 'button', class: 'quiet', id: 'language', 'data-word': 'page.otherLanguage' });
  head.append(other, theme);
  connectLanguageButton(other);
  if (language) setLanguage(language);
  else startLanguage();
}
