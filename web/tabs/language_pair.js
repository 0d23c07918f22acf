// The language pair: languagePair(onchange) fills the two boxes with the languages that the server translates.
import { make } from '../lib/dom.js';
import { onLanguageChange } from '../lib/language.js';
import { translateWords } from '../words/translate.js';

export function languagePair(onchange) {
  const from = document.getElementById('from');
  const to = document.getElementById('to');
  const swap = document.getElementById('swap');
  let languages = [];
  const find = (code) => languages.find((one) => one.code === code);
  // The name of a language in the language of the page, if the browser knows it; otherwise the server's name.
  const name = (code) => {
    const given = (find(code) || {}).name || code;
    if (given === code) return code; // not a language
    try {
      const known = new Intl.DisplayNames([document.documentElement.lang], { type: 'language', fallback: 'none' }).of(
        code,
      );
      if (known) return known[0].toLocaleUpperCase() + known.slice(1);
    } catch (unknown) {
      // Not a language code.
    }
    return given;
  };
  const sources = () => languages.filter((one) => one.targets.some((code) => code !== one.code));
  const targets = (source) => {
    const all =
      source === 'auto'
        ? languages.flatMap((one) => one.targets.filter((code) => code !== one.code))
        : ((find(source) || {}).targets || []).filter((code) => code !== source);
    return [...new Set(all)];
  };
  const fill = (box, codes, chosen) => {
    box.replaceChildren(
      ...codes.map((code) => make('option', { value: code }, code === 'auto' ? translateWords.detect : name(code))),
    );
    box.value = codes.includes(chosen) ? chosen : codes[0] || '';
    box.disabled = codes.length < 2;
  };
  const canSwap = () => from.value !== 'auto' && targets(to.value).includes(from.value);

  function choose(source, target) {
    const codes = sources().map((one) => one.code);
    fill(from, codes.length > 1 ? [...codes, 'auto'] : codes, source);
    fill(to, targets(from.value), target);
    swap.hidden = !canSwap();
  }
  from.addEventListener('change', () => {
    choose(from.value, to.value);
    onchange(false);
  });
  to.addEventListener('change', () => {
    choose(from.value, to.value);
    onchange(false);
  });
  swap.addEventListener('click', () => {
    choose(to.value, from.value);
    onchange(true);
  });
  onLanguageChange(() => choose(from.value, to.value));
  return {
    set: (list, source, target) => {
      languages = list;
      choose(source, target);
    },
    choose,
    name,
    has: () => sources().length > 0,
    get source() {
      return from.value;
    },
    get target() {
      return to.value;
    },
  };
}
