// Light or dark: the system's setting, unless the reader has chosen.
import { remember } from './storage.js';

const system = window.matchMedia('(prefers-color-scheme: dark)');
const listeners = [];
const remembered = remember('theme');
if (remembered === 'dark' || remembered === 'light') document.documentElement.dataset.theme = remembered;

export const currentTheme = () => document.documentElement.dataset.theme || (system.matches ? 'dark' : 'light');
export const onThemeChange = (listener) => listeners.push(listener);

const changed = () => listeners.forEach((listener) => listener());
system.addEventListener('change', changed);

export function connectThemeButton(button) {
  button.addEventListener('click', () => {
    const chosen = currentTheme() === 'dark' ? 'light' : 'dark';
    document.documentElement.dataset.theme = chosen;
    remember('theme', chosen === (system.matches ? 'dark' : 'light') ? '' : chosen);
    changed();
  });
}
