// Translation: text on the left, its translation on the right, below what the model attended to and its beam search.
// The address: text=…&from=en&to=de&layer=2&head=1&word=t3&unit=words.
import { currentLanguage } from '../lib/language.js';
import { api } from '../server/api.js';
import { createAsker } from '../server/asker.js';
import { ALL, LISTED, translating } from '../server/translation.js';
import { ribbonArt } from '../views/ribbons.js';
import { appWords } from '../words/app.js';
import { exampleSentences } from '../words/examples.js';
import { translateWords } from '../words/translate.js';
import { showExamples } from './examples.js';
import { languagePair } from './language_pair.js';
import { explainDialog, selectionFields } from './translation/explain_dialog.js';
import { TranslationResult } from './translation/result.js';
import { acceptTextFiles } from './translation/text_files.js';

const $ = (id) => document.getElementById(id);
const EXAMPLES = 4; // of the model's own validation lines

class TranslateTab {
  element = $('view-generate');
  text = $('text');
  words = false; // tokens are words
  chosen = ''; // an alternative translation
  #page;
  #models = [];
  #ready = false; // the models are known
  #limit = 0; // characters; 0: none
  #wanted = null; // the languages that the address names, until the server's are known
  #cut = false; // the text is the beginning of a file
  #pair;
  #asker;
  #result;
  #dialog = explainDialog();

  constructor(page) {
    this.#page = page;
    this.#result = new TranslationResult(this, page.trouble);
    this.#pair = languagePair((swapped) => this.#pairChanged(swapped));
    this.#asker = createAsker({
      run: translating({
        answer: (request, reply) => this.#answer(request, reply),
        attention: (...of) => this.#result.attention(...of),
        trouble: page.trouble,
      }),
      trouble: page.trouble,
      connection: page.connection,
      busy(on) {
        $('busy').classList.toggle('on', on);
        $('generate').setAttribute('aria-busy', String(on));
      },
    });
    this.#connect();
    this.#empty();
  }

  // --- for the page (tabs/index.js) ---
  models(list, settings, languages) {
    this.#ready = true;
    this.#limit = Number(settings.charLimit) > 0 ? Number(settings.charLimit) : 0;
    this.#models = list;
    const wished = this.#wanted || { from: this.#pair.source, to: this.#pair.target };
    const first = list[0] || {};
    this.#pair.set(languages, wished.from || first.source, wished.to || first.target);
    this.#wanted = null;
    this.#writeExamples();
    if (this.text.value.trim() === '') this.#empty();
  }

  open({ text, from, to, kind, layer, head, word, unit }) {
    const { view } = this.#result;
    const number = (value) => (/^\d+$/.test(value || '') ? value : '');
    this.text.value = text || '';
    this.words = unit === 'words';
    Object.assign(view.state, { layer: number(layer), head: number(head) });
    view.pin(null);
    this.#result.word = word || '';
    this.#markUnit();
    if (kind) view.state.kind = kind;
    if (!this.#ready) {
      this.#wanted = { from, to };
      return;
    }
    this.#pair.choose(from || this.#pair.source, to || this.#pair.target);
    this.ask(0);
  }

  address() {
    const { kind, layer, head } = this.#result.view.state;
    return {
      text: this.text.value,
      from: this.#pair.source,
      to: this.#pair.target,
      kind: kind === 'cross' ? '' : kind,
      layer,
      head,
      word: this.#result.word,
      unit: this.words ? 'words' : '',
    };
  }

  // Asks for the translation of what is in the field, after `delay` milliseconds or, without it, when the reader
  // pauses.
  ask(delay) {
    const { value } = this.text;
    $('clear').hidden = value === '';
    this.#count();
    $('generate').classList.toggle('long', value.length > 260);
    $('examples').hidden = value !== '';
    this.#result.sides.source.set(value, []);
    this.#result.training.slider.reset();
    const nothing = value.trim() === '' || !this.#pair.source || this.#page.locked();
    if (nothing) this.#empty();
    else $('output').classList.add('stale');
    const request = nothing ? null : this.#request(value);
    if (delay === undefined) this.#asker.typed(request);
    else this.#asker.ask(request, delay);
    this.addressChanged();
  }

  redraw() {
    this.#writeExamples();
    this.#result.facts();
    if (!this.#result.shown) this.#empty();
  }

  focus() {
    if (!this.text.value) this.text.focus({ preventScroll: true });
  }

  notify(word) {
    $('count').textContent = word;
    setTimeout(() => this.#count(), 1400);
  }

  // --- for the result ---
  addressChanged() {
    this.#page.addressChanged();
  }

  // The models that may answer: those of the pair, or all when the language is to be detected.
  candidates() {
    const { source, target } = this.#pair;
    return this.#models.filter((one) => source === 'auto' || (one.source === source && one.target === target));
  }

  attends() {
    return this.candidates().every((one) => one.layers !== 0);
  }

  // Whether the server lists weights for a text of this length.
  listable() {
    return this.#bytes() <= LISTED;
  }

  // --- asking ---
  #bytes() {
    return new TextEncoder().encode(this.text.value).length;
  }

  #request(text) {
    const all = this.#bytes() <= ALL;
    return {
      text,
      source: this.#pair.source,
      target: this.#pair.target,
      words: this.words,
      interventions: this.words ? [] : this.#result.changes.list,
      output: this.chosen,
      showable: this.listable(),
      long: this.attends() && !all,
      attention: this.attends() && all,
      heads: Math.max(1, ...this.candidates().map((one) => one.layers * one.heads)),
    };
  }

  #answer(request, reply) {
    const found = reply.detectedLanguage;
    this.#result.answer(request, reply, found ? this.#pair.name(found.language) : '');
  }

  #empty() {
    const yet = this.#pair.has() ? translateWords.nothingYet : translateWords.noModel;
    this.#result.empty(!this.#ready ? appWords.loading : this.#page.locked() ? appWords.keyHint : yet);
  }

  // How much of the limit is used, once it matters.
  #count() {
    const length = [...this.text.value].length;
    const counted = this.#limit > 0 && length > this.#limit * 0.7 ? appWords.count(length, this.#limit) : '';
    $('count').textContent = this.#cut ? translateWords.fileCut(length) : counted;
  }

  #writeExamples() {
    const own = this.candidates().flatMap((one) => one.examples || []);
    const list = own.length ? own.slice(0, EXAMPLES) : exampleSentences[this.#pair.source] || [];
    showExamples($('examples'), list, (one) => this.#write(one));
  }

  #write(text) {
    this.text.value = text;
    this.text.focus();
    this.ask(0);
  }

  // --- controls ---
  #connect() {
    const { text } = this;
    text.addEventListener('input', (event) => {
      if (event.isComposing)
        this.#result.sides.source.set(text.value, []); // half a character is no text
      else this.#edited();
    });
    text.addEventListener('compositionend', () => this.#edited());
    $('clear').addEventListener('click', () => {
      this.#result.word = '';
      this.#write('');
    });
    $('copy').addEventListener('click', () => {
      this.#page.copy(this.#result.shown.translatedText, $('copy'), translateWords.copied);
    });
    $('art').append(ribbonArt());
    acceptTextFiles($('generate'), (whole, complete) => {
      text.value = this.#limit ? whole.slice(0, this.#limit) : whole;
      this.#edited();
      this.#cut = !complete || text.value.length < whole.length;
      this.#count();
    });
    $('explain').addEventListener('click', () => this.#explain());
    $('unit').addEventListener('click', (event) => this.#chooseUnit(event.target.dataset.unit));
  }

  #edited() {
    this.#cut = false;
    this.chosen = '';
    this.#result.changes.clear(false);
    this.#result.word = '';
    this.#result.view.pin(null);
    this.ask();
  }

  #pairChanged(swapped) {
    const { shown } = this.#result;
    if (swapped && shown && shown.request.text === this.text.value) this.text.value = shown.translatedText;
    this.#result.word = '';
    this.ask(0);
    this.#writeExamples();
  }

  #chooseUnit(unit) {
    if (!unit || (unit === 'words') === this.words) return;
    this.words = unit === 'words';
    this.#result.word = '';
    this.#result.changes.clear(false);
    this.#result.changes.element.hidden = this.words;
    this.#markUnit();
    this.ask(0);
  }

  #markUnit() {
    for (const button of $('unit').children) {
      button.setAttribute('aria-pressed', String((button.dataset.unit === 'words') === this.words));
    }
  }

  // The numbers of this sentence, with what is selected.
  #explain() {
    const { shown, view, changes, training, inParts } = this.#result;
    if (!shown) return;
    const checkpoint = training.slider.step;
    this.#dialog.open({
      q: this.text.value,
      source: this.#pair.source,
      target: this.#pair.target,
      kind: (view.picture && view.picture.kind) || (this.attends() ? 'cross' : ''),
      interventions: JSON.stringify(changes.list),
      format: 'html',
      language: currentLanguage(),
      ...(api.key ? { api_key: api.key } : {}),
      ...(checkpoint === null ? {} : { checkpoint }),
      ...selectionFields(view, !this.words && view.state.pinned, inParts),
    });
  }
}

export const translateTab = { task: 'generate', words: translateWords, create: (page) => new TranslateTab(page) };
