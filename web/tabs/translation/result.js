// The answer to a translation request: the output with its alternatives, the attention, the beam search, the
// training.
import { attentionView } from '../../attention/attention_view.js';
import { interventionPanel } from '../../attention/interventions.js';
import { beamOfPart, splitPicture } from '../../attention/parts.js';
import { pictureJson } from '../../attention/save.js';
import { make } from '../../lib/dom.js';
import { nameOf, positionOf } from '../../server/link.js';
import { LISTED, searchOptions } from '../../server/translation.js';
import { beamTree } from '../../views/beam_tree.js';
import { beamOfWords } from '../../views/beam_words.js';
import { markDifferences } from '../../views/lit_text.js';
import { attentionWords } from '../../words/attention.js';
import { beamWords } from '../../words/beam.js';
import { pageWords } from '../../words/page.js';
import { translateWords } from '../../words/translate.js';
import { CheckpointAttention } from './checkpoint_attention.js';
import { LitSides } from './lit_sides.js';

const $ = (id) => document.getElementById(id);
const MEAN = 1000; // tokens of a text whose mean over heads is drawn before the heads are known
const LONG = 600; // characters of a text whose mean is drawn even where a picture is shown

// The output of a changed model, or an alternative, is shown together with its attention.
const waits = (request) =>
  request.showable && !request.long && ((request.interventions || []).length > 0 || Boolean(request.output));

export class TranslationResult {
  shown = null; // the last answer with its request; null: nothing is shown
  word = ''; // the selected token or cell, as the address names it
  #parts = null; // of a long text
  #part = 0; // the one that is shown
  #beam = null;
  #input;

  // input: text (the field), words (tokens are words), chosen (an alternative), candidates(), attends(), listable(),
  // ask(delay) and addressChanged().
  constructor(input, trouble) {
    this.#input = input;
    this.sides = new LitSides(input.text, () => this.#parts);
    // Positions are subwords of this text, so another text or other units start without changes.
    this.changes = interventionPanel({ onchange: () => input.ask(0) });
    this.view = attentionView($('attention'), [], {
      onshow: (now) => this.#selected(now),
      onlight: (active, weights) => this.sides.light(active, weights),
      json: pictureJson,
    });
    this.sides.connect(this.view);
    this.beam = beamTree($('beam'));
    this.training = new CheckpointAttention({ show: (picture) => this.#draw(picture), trouble });
    $('attention').before(this.training.slider.element);
    $('attention').after(this.changes.element);
  }

  get inParts() {
    return Boolean(this.#parts);
  }

  empty(text) {
    this.shown = null;
    this.training.set(null, []);
    this.sides.target.set('', []);
    $('output').classList.remove('stale');
    $('art').hidden = false;
    $('look').hidden = $('search').hidden = $('others').hidden = $('copy').hidden = true;
    $('detected').textContent = '';
    $('waiting').hidden = false;
    $('waiting').textContent = text;
  }

  // The translation.
  answer(request, reply, detected) {
    this.shown = { ...reply, request };
    $('art').hidden = true;
    if (!waits(request)) this.#write(reply.translatedText, reply.attention);
    $('detected').textContent = detected ? translateWords.detected(detected) : '';
    const others = (reply.alternatives || []).filter((one) => one && one !== reply.translatedText);
    $('others').hidden = others.length === 0;
    $('alternatives').replaceChildren(...others.map((one) => this.#alternative(reply.translatedText, one)));
    if (waits(request) || !reply.attention || reply.attention.source.length > MEAN) return;
    // A picture that is shown stays until the heads are known, so that it does not flicker.
    if ($('look').hidden || request.text.length > LONG) this.#draw(reply.attention);
  }

  // The attention of the translation; null: there is none. top: how many weights of each token are listed, 0: all.
  attention(request, reply, top) {
    if (reply) this.#explain(request, reply, top);
    else {
      this.training.set(null, []);
      if (waits(request)) this.#write(this.shown.translatedText, this.shown.attention);
      this.#draw(this.shown.attention || { source: [], target: [] });
      $('search').hidden = true;
    }
    this.facts();
  }

  #explain(request, reply, top) {
    const { shown } = this;
    const sentences = reply.sentences || [];
    const before = shown.attention;
    const known = before && reply.translatedText === shown.translatedText;
    const same = known && before.target.join('\n') === reply.target.join('\n');
    if (!same || waits(request)) this.#write(reply.translatedText, reply);
    const { translatedText, log_probability: log, model } = reply;
    Object.assign(shown, { translatedText, log, model, top });
    // An alternative is of the whole text, so which of several sentences it changes is unknown.
    if (sentences.length > 1) {
      for (const button of $('alternatives').querySelectorAll('button')) {
        Object.assign(button, { disabled: true, title: '' });
      }
    }
    const detected = (shown.detectedLanguage || {}).language;
    const fields = {
      q: request.text,
      source: request.source === 'auto' ? detected : request.source,
      target: request.target,
      merge_words: request.words,
      beam: searchOptions.beamWidth,
      interventions: request.interventions,
    };
    const { checkpoints } = this.#input.candidates().find((one) => one.name === model) || {};
    const outputs = sentences.map((one) => one.output);
    this.training.set({ picture: reply.picture, outputs, fields }, top ? [] : checkpoints || []);
    this.#draw(reply.picture, top ? splitPicture(reply.picture, sentences) : null);
    this.#beam = reply.beam || null;
    $('search').hidden = !this.#beam || !this.#beam.nodes.length;
    this.#drawBeam();
  }

  facts() {
    const { log, model, top } = this.shown || {};
    $('beam-lead').textContent = beamWords.beamLead(searchOptions.beamWidth, this.#input.words && !top);
    const listed = top && translateWords.listed(top, this.#parts.length);
    let text = '';
    if (!this.shown) text = '';
    else if (!this.#input.attends()) text = attentionWords.noAttention;
    else if (!this.#input.listable()) text = translateWords.tooLong(LISTED / 1000);
    else if (log !== undefined) {
      text = [model, pageWords.logProbability(log.toFixed(2)), listed].filter(Boolean).join(' · ');
    } else if (this.shown.attention) text = translateWords.onlyMean;
    $('facts').textContent = text;
  }

  #alternative(translation, one) {
    const choose = () => {
      this.#input.chosen = one === this.#input.chosen ? '' : one;
      this.#input.ask(0);
    };
    const properties = { type: 'button', class: 'bare other', title: translateWords.choose, onclick: choose };
    const pressed = { 'aria-pressed': String(one === this.#input.chosen) };
    const button = make('button', { ...properties, ...pressed }, ...markDifferences(translation, one));
    return make('li', { dir: 'auto' }, button);
  }

  #write(translation, tokens) {
    this.sides.source.set(this.#input.text.value, tokens ? tokens.source : []);
    this.sides.target.set(translation, tokens ? tokens.target : []);
    $('output').classList.remove('stale');
    $('waiting').hidden = translation !== '';
    if (translation === '') $('waiting').textContent = translateWords.same;
    $('copy').hidden = translation === '';
  }

  #draw(picture, parts = null) {
    const some = picture.source.length > 0 && picture.target.length > 0;
    $('look').hidden = !some && this.#input.attends() && this.#input.listable();
    $('attention').hidden = !some;
    $('unit').hidden = !some || Boolean(parts);
    if (!some) return;
    const at = positionOf(this.word); // read before the view reports its selection
    this.#parts = parts;
    this.#part = 0;
    this.view.set(parts || [picture]);
    this.changes.follow(this.view.picture, this.view.state);
    if (at && !this.view.state.pinned) this.view.pin(at);
  }

  #drawBeam() {
    const part = this.#parts && this.#parts[this.view.state.at];
    const whole = this.#input.words ? beamOfWords(this.#beam) : this.#beam;
    this.beam.set(part ? beamOfPart(this.#beam, part) : whole);
  }

  #selected(now) {
    if (this.shown) {
      this.word = nameOf(now.pinned);
      this.#input.addressChanged();
    }
    this.changes.follow(this.view.picture, now);
    if (this.#parts && now.at !== this.#part) {
      this.#part = now.at;
      this.#drawBeam();
    }
  }
}
