// Translation: text on the left, its translation on the right, below what the model attended to and its beam search.
// The address: text=…&from=en&to=de&layer=2&head=1&word=t3&unit=words.
import { attentionView } from '../attention/attention_view.js';
import { interventionPanel } from '../attention/interventions.js';
import { beamOfPart, sentenceAt, splitPicture } from '../attention/parts.js';
import { pictureJson } from '../attention/save.js';
import { attentionShares } from '../attention/weights.js';
import { make } from '../lib/dom.js';
import { currentLanguage } from '../lib/language.js';
import { api } from '../server/api.js';
import { createAsker } from '../server/asker.js';
import { nameOf, positionOf } from '../server/link.js';
import { searchOptions, translating } from '../server/translation.js';
import { beamTree } from '../views/beam_tree.js';
import { beamOfWords } from '../views/beam_words.js';
import { checkpointSlider } from '../views/checkpoint_slider.js';
import { litText, markDifferences } from '../views/lit_text.js';
import { ribbonArt } from '../views/ribbons.js';
import { appWords } from '../words/app.js';
import { attentionWords } from '../words/attention.js';
import { exampleSentences } from '../words/examples.js';
import { beamWords } from '../words/beam.js';
import { pageWords } from '../words/page.js';
import { stepsWords } from '../words/steps.js';
import { translateWords } from '../words/translate.js';
import { showExamples } from './examples.js';
import { languagePair } from './language_pair.js';

const $ = (id) => document.getElementById(id);
// Bytes of a text: the server gives all weights of so many, and the largest of each token of so many.
const ALL = 8000;
const LISTED = 64000;
const MOST = 400000; // of a file that is dropped

function create(page) {
  const text = $('text');
  const state = {
    word: '',
    words: false,
    chosen: '',
    limit: 0,
    models: [],
    ready: false,
    shown: null,
    latest: null,
    parts: null,
    part: 0,
    beam: null,
    wanted: null,
    cut: false,
  };
  const mirror = litText($('mirror'));
  const output = litText($('output'));

  // --- the drawings ----------------------------------------------------------------------------------------------
  const view = attentionView($('attention'), [], {
    onshow: (now) => {
      if (state.shown) {
        state.word = nameOf(now.pinned);
        page.addressChanged();
      }
      if (state.ready) changes.follow(view.picture, now);
      if (state.parts && now.at !== state.part) {
        state.part = now.at;
        search();
      }
    },
    onlight: (active, weights) => {
      const shares = attentionShares(weights, active);
      const from = (active && view.picture.offset) || { source: 0, target: 0 };
      mirror.light(shares.source, active && active.side === 'source' ? active.i : -1, from.source);
      output.light(shares.target, active ? (active.side === 'target' ? active.i : active.t) : -1, from.target);
    },
    json: (picture) => pictureJson(picture),
  });
  const beam = beamTree($('beam'));
  // What is changed in the model: positions are pieces of this text, so another text or other units begin anew.
  const changes = interventionPanel({ onchange: () => changed(0) });
  $('attention').after(changes.element);
  // What the model attended to earlier in its training, while it is given the translation that it writes in the end.
  const training = checkpointSlider({ onstep: earlier, busy: () => Boolean(looking) });
  $('attention').before(training.element);
  let looking = null;
  const looked = new Map(); // by step, of the text that is shown
  async function earlier(step) {
    if (looking) looking.abort();
    looking = null;
    if (!state.latest) return;
    if (step === null) {
      draw(state.latest.picture);
      return;
    }
    const { fields } = state.latest;
    const key = JSON.stringify([step, fields]);
    if (!looked.has(key)) {
      const control = new AbortController();
      looking = control;
      try {
        const ask = (more) => api.attention({ ...fields, checkpoint: step, ...more }, control.signal);
        const [given, own] = await Promise.all([
          ask({ kind: 'all', output: state.latest.outputs }),
          ask({ kind: 'cross', interventions: [] }),
        ]);
        looked.set(key, { given, own });
      } catch (error) {
        if (error.name !== 'AbortError') page.trouble(error.kind || 'heads', error);
        return;
      } finally {
        if (looking === control) looking = null;
      }
    }
    if (training.step !== step) return;
    const { given, own } = looked.get(key);
    draw(given.picture);
    training.say(stepsWords.stepWrites(own.translatedText, given.log_probability.toFixed(2)));
  }
  const endOf = (part) => part.offset.target + part.target.length;
  for (const [element, lit, side] of [
    [text, mirror, 'source'],
    [$('output'), output, 'target'],
  ]) {
    const at = (event) => {
      const i = lit.at(event);
      return i < 0 ? null : inPart({ side, i });
    };
    element.addEventListener('pointermove', (event) => event.pointerType !== 'touch' && view.activate(at(event)));
    element.addEventListener('pointerleave', () => view.activate(null));
    if (side === 'target')
      element.addEventListener('click', (event) => {
        if (lit.at(event) < 0 || !getSelection().isCollapsed) return;
        if (!at(event)) view.show(state.parts.findIndex((one) => lit.at(event) < endOf(one))); // in another part
        view.pin(at(event));
      });
  }

  // A token of the text, as the part that is shown counts it; null where it is in another.
  function inPart({ side, i }) {
    const from = ((view.picture || {}).offset || {})[side] || 0;
    return i >= from && (!state.parts || i < from + state.parts[view.state.at][side].length)
      ? { side, i: i - from }
      : null;
  }

  // --- asking and answering --------------------------------------------------------------------------------------
  const pair = languagePair((swapped) => {
    if (swapped && state.shown && state.shown.request.text === text.value) text.value = state.shown.translatedText;
    state.word = '';
    changed(0);
    examples();
  });
  const asker = createAsker({
    run: translating({ answer, attention, trouble: page.trouble }),
    trouble: page.trouble,
    connection: page.connection,
    busy: (on) => {
      $('busy').classList.toggle('on', on);
      $('generate').setAttribute('aria-busy', String(on));
    },
  });

  function changed(delay) {
    const value = text.value;
    $('clear').hidden = value === '';
    counted();
    $('generate').classList.toggle('long', value.length > 260);
    $('examples').hidden = value !== '';
    mirror.set(value, []);
    const nothing = value.trim() === '' || !pair.source || page.locked();
    training.reset();
    if (nothing) empty();
    else $('output').classList.add('stale');
    const request = nothing
      ? null
      : {
          text: value,
          source: pair.source,
          target: pair.target,
          words: state.words,
          interventions: state.words ? [] : changes.list,
          output: state.chosen,
          showable: bytes(value) <= LISTED,
          long: attends() && bytes(value) > ALL,
          attention: attends() && bytes(value) <= ALL,
          heads: Math.max(1, ...models().map((one) => one.layers * one.heads)),
        };
    if (delay === undefined) asker.typed(request);
    else asker.ask(request, delay);
    page.addressChanged();
  }
  // The models that may answer: the pair's, or all when the language is to be detected.
  const models = () =>
    state.models.filter((one) => pair.source === 'auto' || (one.source === pair.source && one.target === pair.target));
  const attends = () => models().every((one) => one.layers !== 0);
  const bytes = (value) => new TextEncoder().encode(value).length;
  function empty() {
    state.shown = state.latest = null;
    output.set('', []);
    $('output').classList.remove('stale');
    $('art').hidden = false;
    $('look').hidden = $('search').hidden = $('others').hidden = $('copy').hidden = true;
    $('detected').textContent = '';
    $('waiting').hidden = false;
    $('waiting').textContent = state.ready
      ? page.locked()
        ? appWords.keyHint
        : pair.has()
          ? translateWords.nothingYet
          : translateWords.noModel
      : appWords.loading;
  }

  function answer(request, reply) {
    state.shown = { ...reply, request };
    $('art').hidden = true;
    // What the changed model writes, or another translation, comes with its attention.
    if (!waits(request)) write(reply.translatedText, reply.attention);
    const found = reply.detectedLanguage;
    $('detected').textContent = found ? translateWords.detected(pair.name(found.language)) : '';
    const others = (reply.alternatives || []).filter((one) => one && one !== reply.translatedText);
    $('others').hidden = others.length === 0;
    $('alternatives').replaceChildren(
      ...others.map((one) =>
        make(
          'li',
          { dir: 'auto' },
          make(
            'button',
            {
              type: 'button',
              class: 'bare other',
              title: translateWords.choose,
              'aria-pressed': String(one === state.chosen),
              onclick: () => {
                state.chosen = one === state.chosen ? '' : one;
                changed(0);
              },
            },
            ...markDifferences(reply.translatedText, one),
          ),
        ),
      ),
    );
    // The mean now when there is nothing to see yet; else the picture waits for its heads, so that it does not
    // flicker.
    if (
      !waits(request) &&
      reply.attention &&
      ($('look').hidden || request.text.length > 600) &&
      reply.attention.source.length <= MEAN
    )
      draw(reply.attention);
  }
  const MEAN = 1000; // tokens of a text whose mean is drawn first
  const waits = (request) =>
    request.showable && !request.long && ((request.interventions || []).length > 0 || Boolean(request.output));
  function write(translation, tokens) {
    mirror.set(text.value, tokens ? tokens.source : []);
    output.set(translation, tokens ? tokens.target : []);
    $('output').classList.remove('stale');
    $('waiting').hidden = translation !== '';
    if (translation === '') $('waiting').textContent = translateWords.same;
    $('copy').hidden = translation === '';
  }
  function draw(picture, parts = null) {
    const some = picture.source.length > 0 && picture.target.length > 0;
    $('look').hidden = !some && attends() && bytes(text.value) <= LISTED;
    $('attention').hidden = !some;
    $('unit').hidden = !some || Boolean(parts);
    if (!some) return;
    const at = positionOf(state.word); // read before the view reports what it kept
    state.parts = parts;
    state.part = 0;
    view.set(parts || [picture]);
    changes.follow(view.picture, view.state);
    if (at && !view.state.pinned) view.pin(at);
  }
  function attention(request, reply, top) {
    if (!reply) {
      state.latest = null;
      training.set([]);
      if (waits(request)) write(state.shown.translatedText, state.shown.attention);
      draw(state.shown.attention || { source: [], target: [] });
      $('search').hidden = true;
      facts();
      return;
    }
    const sentences = reply.sentences || [];
    const before = state.shown.attention;
    const same =
      before &&
      reply.translatedText === state.shown.translatedText &&
      before.target.join('\n') === reply.target.join('\n');
    if (!same || waits(request)) write(reply.translatedText, reply);
    state.shown.translatedText = reply.translatedText;
    state.shown.log = reply.log_probability;
    Object.assign(state.shown, { model: reply.model, top });
    // An alternative is of the whole text; which sentences it changes is not known.
    if (sentences.length > 1)
      for (const button of $('alternatives').querySelectorAll('button'))
        Object.assign(button, { disabled: true, title: '' });
    looked.clear();
    state.latest = {
      picture: reply.picture,
      outputs: sentences.map((one) => one.output),
      fields: {
        q: request.text,
        source: request.source === 'auto' ? (state.shown.detectedLanguage || {}).language : request.source,
        target: request.target,
        merge_words: request.words,
        beam: searchOptions.beamWidth,
        interventions: request.interventions,
      },
    };
    training.set(top ? [] : (models().find((one) => one.name === reply.model) || {}).checkpoints || []);
    draw(reply.picture, top ? splitPicture(reply.picture, sentences) : null);
    $('search').hidden = !reply.beam || !reply.beam.nodes.length;
    state.beam = reply.beam || null;
    search();
    facts();
  }
  function search() {
    const part = state.parts && state.parts[view.state.at];
    beam.set(part ? beamOfPart(state.beam, part) : state.words ? beamOfWords(state.beam) : state.beam);
  }
  function facts() {
    const { log, model, top } = state.shown || {};
    $('beam-lead').textContent = beamWords.beamLead(searchOptions.beamWidth, state.words && !top);
    $('facts').textContent = !state.shown
      ? ''
      : !attends()
        ? attentionWords.noAttention
        : bytes(text.value) > LISTED
          ? translateWords.tooLong(LISTED / 1000)
          : log !== undefined
            ? [model, pageWords.logProbability(log.toFixed(2)), top && translateWords.listed(top, state.parts.length)]
                .filter(Boolean)
                .join(' · ')
            : state.shown.attention
              ? translateWords.onlyMean
              : '';
  }

  // How much of the limit is used, once it matters.
  function counted() {
    const length = [...text.value].length;
    $('count').textContent = state.cut
      ? translateWords.fileCut(length)
      : state.limit > 0 && length > state.limit * 0.7
        ? appWords.count(length, state.limit)
        : '';
  }
  function examples() {
    // The model's own validation lines, where its folder has some.
    const own = models().flatMap((one) => one.examples || []);
    const list = own.length ? own.slice(0, 4) : exampleSentences[pair.source] || [];
    showExamples($('examples'), list, (one) => {
      text.value = one;
      text.focus();
      changed(0);
    });
  }

  // --- controls --------------------------------------------------------------------------------------------------
  const edited = () => {
    state.cut = false;
    state.chosen = '';
    changes.clear(false);
    state.word = '';
    view.pin(null);
    changed();
  };
  text.addEventListener('input', (event) => {
    if (event.isComposing) mirror.set(text.value, []);
    else edited();
  }); // half a character is no text
  text.addEventListener('compositionend', edited);
  $('clear').addEventListener('click', () => {
    text.value = '';
    state.word = '';
    changed(0);
    text.focus();
  });
  $('copy').addEventListener('click', () => page.copy(state.shown.translatedText, $('copy'), translateWords.copied));
  $('art').append(ribbonArt());
  // A text file that is dropped is its text.
  const desk = $('generate');
  const carries = (event) => event.dataTransfer && [...event.dataTransfer.types].includes('Files');
  desk.addEventListener('dragover', (event) => {
    if (carries(event)) {
      event.preventDefault();
      desk.classList.add('dropping');
    }
  });
  desk.addEventListener('dragleave', (event) => {
    if (!desk.contains(event.relatedTarget)) desk.classList.remove('dropping');
  });
  desk.addEventListener('drop', async (event) => {
    desk.classList.remove('dropping');
    const file = carries(event) && event.dataTransfer.files[0];
    if (!file) return;
    event.preventDefault();
    const whole = await file.slice(0, MOST).text();
    text.value = whole.slice(0, state.limit || MOST);
    edited();
    state.cut = file.size > MOST || text.value.length < whole.length;
    counted();
  });
  // The numbers of this sentence, in a window of their own on the page.
  const sheet = make('iframe', {
    class: 'explain-sheet',
    name: 'explain-sheet',
    sandbox: 'allow-scripts',
    title: translateWords.explainHint,
  });
  const shut = make('button', { type: 'button', class: 'small shut', onclick: () => dialog.close() });
  const dialog = make('dialog', { class: 'explain-dialog' }, shut, sheet);
  document.body.append(dialog);
  $('explain').addEventListener('click', () => {
    if (!state.shown) return;
    const now = view.state;
    const fields = {
      q: text.value,
      source: pair.source,
      target: pair.target,
      kind: (view.picture && view.picture.kind) || (attends() ? 'cross' : ''),
      interventions: JSON.stringify(changes.list),
      format: 'html',
      language: currentLanguage(),
      ...(api.key ? { api_key: api.key } : {}),
    };
    if (training.step !== null) fields.checkpoint = training.step;
    if (now.layer !== '') fields.layer = Number(now.layer);
    if (now.head !== '') fields.head = Number(now.head);
    const pinned = !state.words && now.pinned;
    if (pinned && view.picture) {
      const row = pinned.t !== undefined ? pinned.t : pinned.side === 'target' ? pinned.i : undefined;
      const at = sentenceAt(view.picture, row !== undefined ? 'target' : 'source', row !== undefined ? row : pinned.i);
      fields.sentence = at.line;
      if (pinned.t !== undefined) {
        const keys = sentenceAt(view.picture, 'source', pinned.s);
        if (keys.line === at.line) {
          fields.query = pinned.t - at.from;
          fields.key = pinned.s - keys.from;
        }
      }
    } else if (state.parts) {
      fields.sentence = view.picture.line;
    }
    shut.textContent = translateWords.close;
    // A form, so that the answer is a document with its own rules of what may run.
    const form = make(
      'form',
      { method: 'post', action: 'explain', target: 'explain-sheet', hidden: '' },
      ...Object.entries(fields).map(([name, value]) => make('input', { type: 'hidden', name, value: String(value) })),
    );
    document.body.append(form);
    form.submit();
    form.remove();
    dialog.showModal();
  });
  $('unit').addEventListener('click', (event) => {
    const unit = event.target.dataset.unit;
    if (!unit || (unit === 'words') === state.words) return;
    state.words = unit === 'words';
    state.word = '';
    changes.clear(false);
    changes.element.hidden = state.words;
    units();
    changed(0);
  });
  const units = () => {
    for (const b of $('unit').children)
      b.setAttribute('aria-pressed', String((b.dataset.unit === 'words') === state.words));
  };
  empty();

  return {
    element: $('view-generate'),
    // What the server is: its models of this task, all settings and the languages.
    models(list, settings, languages) {
      state.ready = true;
      state.limit = Number(settings.charLimit) > 0 ? Number(settings.charLimit) : 0;
      state.models = list;
      const wished = state.wanted || { from: pair.source, to: pair.target };
      const first = list[0] || {};
      pair.set(languages, wished.from || first.source, wished.to || first.target);
      state.wanted = null;
      examples();
      if (text.value.trim() === '') empty();
    },
    ask: changed,
    notify(word) {
      $('count').textContent = word;
      setTimeout(counted, 1400);
    },
    open(wanted) {
      text.value = wanted.text || '';
      state.word = wanted.word || '';
      state.words = wanted.unit === 'words';
      view.state.layer = /^\d+$/.test(wanted.layer || '') ? wanted.layer : '';
      view.state.head = /^\d+$/.test(wanted.head || '') ? wanted.head : '';
      view.pin(null);
      state.word = wanted.word || '';
      units();
      if (wanted.kind) view.state.kind = wanted.kind;
      if (state.ready) pair.choose(wanted.from || pair.source, wanted.to || pair.target);
      else state.wanted = { from: wanted.from, to: wanted.to };
      if (state.ready) changed(0);
    },
    address: () => ({
      text: text.value,
      from: pair.source,
      to: pair.target,
      kind: view.state.kind === 'cross' ? '' : view.state.kind,
      layer: view.state.layer,
      head: view.state.head,
      word: state.word,
      unit: state.words ? 'words' : '',
    }),
    redraw() {
      examples();
      facts();
      if (!state.shown) empty();
    },
    focus() {
      if (!text.value) text.focus({ preventScroll: true });
    },
  };
}

export const translateTab = { task: 'generate', words: translateWords, create };
