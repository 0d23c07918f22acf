// The controls above a drawing of attention: the sentence, the kind of attention, layer and head, heads in colour,
// saving.
import { make } from '../lib/dom.js';
import { attentionWords } from '../words/attention.js';
import { attentionKinds, chosenWeights, headMaps, joinTokens } from './weights.js';

const TITLE = 90; // characters of a sentence in the list

const numbersOf = (maps, key) => [...new Set(maps.map((one) => one[key]))].sort((a, b) => a - b);
const buttonOf = (properties, ...children) => make('button', { type: 'button', ...properties }, ...children);

// owner has show(index), choose(change), save(kind) and redraw(); state is { at, kind, layer, head, colour }.
export class AttentionControls {
  #owner;
  #state;
  #off = new Set(); // heads whose colour is switched off
  #sentences = make('select', { onchange: () => this.#owner.show(this.#sentences.selectedIndex) });
  #previous = buttonOf({ class: 'step', onclick: () => this.#owner.show(this.#state.at - 1) }, '‹');
  #next = buttonOf({ class: 'step', onclick: () => this.#owner.show(this.#state.at + 1) }, '›');
  #kind = make('select', {
    class: 'choose-kind',
    onchange: () => this.#owner.choose({ kind: this.#kind.value, layer: '', head: '' }),
  });
  #layer = make('select', { onchange: () => this.#owner.choose({ layer: this.#layer.value }) });
  #head = make('select', { onchange: () => this.#owner.choose({ head: this.#head.value }) });
  #colour = buttonOf({
    class: 'small colour',
    'aria-pressed': 'false',
    onclick: () => this.#owner.choose({ colour: !this.#state.colour }),
  });
  #chips = make('span', { class: 'colour-chips', role: 'group' });
  #names = { kind: make('span'), layer: make('span'), head: make('span') };
  #saveName = make('span', { class: 'save-name', 'aria-hidden': 'true' });
  #savers = ['SVG', 'PNG', 'JSON'].map((kind) =>
    buttonOf({ class: 'small save', 'data-kind': kind, onclick: () => this.#owner.save(kind) }, kind),
  );
  #saving = make('span', { class: 'saving', role: 'group' }, this.#saveName, ...this.#savers);
  #kinds = make('label', { class: 'kinds' }, this.#names.kind, this.#kind);
  #heads = make(
    'span',
    { class: 'choose-head' },
    make('label', {}, this.#names.layer, this.#layer),
    make('label', {}, this.#names.head, this.#head),
    this.#colour,
  );
  #pick = make('label', { class: 'pick' }, this.#sentences);
  element = make(
    'div',
    { class: 'attention-bar' },
    this.#previous,
    this.#pick,
    this.#next,
    this.#kinds,
    this.#heads,
    this.#chips,
    this.#saving,
  );

  constructor(owner, state) {
    this.#owner = owner;
    this.#state = state;
  }

  // Labels in the current language.
  write() {
    const w = attentionWords;
    const { kind, layer, head } = this.#names;
    for (const [element, text] of [
      [kind, w.kind],
      [layer, w.layer],
      [head, w.head],
      [this.#colour, w.colour],
      [this.#saveName, w.save],
    ]) {
      element.textContent = text;
    }
    for (const [element, label] of [
      [this.#kind, w.kind],
      [this.#layer, w.layer],
      [this.#head, w.head],
      [this.#chips, w.colour],
      [this.#sentences, w.sentence],
      [this.#previous, w.previous],
      [this.#next, w.next],
      [this.#saving, w.save],
      ...this.#savers.map((one) => [one, w.saveAs(one.dataset.kind)]),
    ]) {
      element.setAttribute('aria-label', label);
    }
    this.#colour.title = w.colourHint;
    for (const one of this.#savers) one.title = w.saveAs(one.dataset.kind);
  }

  // The sentences to choose from.
  list(pictures) {
    const options = pictures.map((one, i) => {
      const text = one.title || joinTokens(one.source) || attentionWords.empty;
      return make('option', {}, `${i + 1}. ${text.length > TITLE ? text.slice(0, TITLE) + '…' : text}`);
    });
    this.#sentences.replaceChildren(...options);
  }

  // The kinds, layers and heads of pictures[index]; `picture` is shown. Corrects a layer or head that it
  // lacks.
  show(pictures, index, picture) {
    const state = this.#state;
    const kinds = attentionKinds(pictures[index]);
    const name = (kind) => attentionWords.kinds[kind] || kind;
    this.#kinds.hidden = kinds.length < 2;
    this.#kind.replaceChildren(...kinds.map((kind) => make('option', { value: kind }, name(kind))));
    this.#kind.value = state.kind;
    this.#sentences.selectedIndex = index;
    this.#previous.disabled = index === 0;
    this.#next.disabled = index === pictures.length - 1;
    this.#previous.hidden = this.#next.hidden = this.#pick.hidden = pictures.length < 2;
    const maps = headMaps(picture);
    this.#heads.hidden = maps.length < 2;
    for (const [box, key] of [
      [this.#layer, 'layer'],
      [this.#head, 'head'],
    ]) {
      const numbers = numbersOf(maps, key);
      const options = numbers.map((n) => make('option', { value: n }, String(n)));
      box.replaceChildren(make('option', { value: '' }, attentionWords.mean), ...options);
      if (maps.length && state[key] !== '' && !numbers.includes(Number(state[key]))) state[key] = '';
      box.value = state[key];
    }
  }

  // The layer and head of the state.
  mark() {
    this.#layer.value = this.#state.layer;
    this.#head.value = this.#state.head;
  }

  // Several heads at once, each in a colour of its own: those of the chosen layer, or their means over layers. Null:
  // none.
  coloured(picture) {
    const numbers = numbersOf(headMaps(picture), 'head');
    this.#colour.hidden = numbers.length < 2;
    const on = this.#state.colour && !this.#colour.hidden;
    this.#colour.setAttribute('aria-pressed', String(on));
    this.#chips.hidden = !on;
    this.#chips.replaceChildren();
    if (!on) return null;
    // All equally bright, in light and dark.
    const hue = (i) => `oklch(0.64 0.15 ${Math.round((360 * i) / numbers.length) + 20})`;
    this.#chips.append(...numbers.map((head, i) => this.#chip(head, i, hue(i))));
    const shown = numbers.map((head, i) => ({ head, colour: hue(i) })).filter(({ head }) => !this.#off.has(head));
    return shown.map((one) => ({ ...one, weights: chosenWeights(picture, this.#state.layer, one.head) }));
  }

  #chip(head, i, hue) {
    const name = `${attentionWords.head} ${head}`;
    const toggle = () => {
      if (!this.#off.delete(head)) this.#off.add(head);
      this.#owner.redraw();
      this.#chips.children[i].focus();
    };
    const label = { 'aria-label': name, title: name, 'aria-pressed': String(!this.#off.has(head)) };
    const chip = buttonOf({ class: 'chip', 'data-head': head, onclick: toggle, ...label }, String(head));
    chip.style.setProperty('--chip', hue);
    return chip;
  }
}
