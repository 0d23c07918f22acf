// Draws attention: attentionView(element, pictures, options). A picture is a line of `fovea run --attention`:
//   { source: [token], target: [token], weights: [[number]], title?, copied?: [number],
//     attention?: [{ kind, layer, head, queries, keys, weights }] }
// Pointing at a token, or moving to it with the keys, lights up what it attended to, in both directions. The
// view has set(pictures), show(index), choose({ kind, layer, head, colour }), activate(token), pin(token) and state.
//   options.onshow(state)              the reader has chosen something
//   options.onlight(active, weights)   a token or a cell is lit
//   options.fileName, options.kind, options.json(picture)   for saving, and the kind of attention to show first
import { make } from '../lib/dom.js';
import { onLanguageChange } from '../lib/language.js';
import { onThemeChange } from '../lib/theme.js';
import { AttentionControls } from './controls.js';
import { headGrid } from './head_grid.js';
import { heatMap } from './heat_map.js';
import { headLabel, readout, weightsTable } from './readout.js';
import { mapPng, mapSvg, pictureJson, saveFile } from './save.js';
import { tokenRows } from './token_rows.js';
import { attentionKinds, chosenWeights, headMaps, pictureOfKind } from './weights.js';

const CROSSING = 90; // milliseconds that a token stays lit while the pointer crosses the space to the next
const LEAST = 360; // pixels of a map that has all heads next to it

const same = (a, b) => Boolean(a && b && a.side === b.side && a.i === b.i && a.t === b.t && a.s === b.s);

class AttentionView {
  state = { at: 0, kind: '', layer: '', head: '', colour: false, active: null, pinned: null };
  picture = null;
  weights = null;
  #root;
  #pictures = [];
  #options;
  #hovered = null;
  #leaving = 0; // timer
  #rows;
  #heat;
  #grid;
  #table = weightsTable();
  #controls = new AttentionControls(
    {
      show: (index) => this.show(index),
      choose: (change) => this.choose(change),
      save: (kind) => this.#save(kind),
      redraw: () => this.#look(),
    },
    this.state,
  );
  #readout = make('output', { class: 'attention-readout', 'aria-live': 'polite' });

  constructor(root, options) {
    this.#root = root;
    this.#options = options;
    const owner = { onactive: (at) => this.activate(at), onpin: (at) => this.pin(at) };
    this.#rows = tokenRows(owner);
    this.#heat = heatMap(owner);
    this.#grid = headGrid((change) => this.choose(change));
    root.classList.add('attention');
    const maps = make('div', { class: 'attention-maps' }, this.#heat.element, this.#grid.element);
    root.replaceChildren(this.#controls.element, this.#rows.element, this.#readout, maps, this.#table.element);
    onThemeChange(() => {
      if (!this.picture) return;
      this.#drawMap();
      this.#light();
    });
    onLanguageChange(() => {
      this.#write();
      if (this.picture) this.show(this.state.at);
    });
    let width = 0;
    new ResizeObserver(() => {
      if (root.clientWidth === width || !this.picture) return;
      width = root.clientWidth;
      this.#drawMap();
      this.#rows.resize();
    }).observe(root);
  }

  // --- choosing ---
  // Shows other pictures; if there are as many as before, the sentence stays.
  set(list) {
    const before = this.#pictures.length;
    this.#pictures = list;
    this.#write();
    this.#controls.list(list);
    this.#root.hidden = list.length === 0;
    this.show(list.length === before ? this.state.at : 0);
  }

  show(index) {
    const { state } = this;
    if (index < 0 || index >= this.#pictures.length) return;
    const whole = this.#pictures[index];
    // A selection stays when the same tokens come again, with their heads.
    const tokens = (one) => one && [...one.source, '', ...one.target].join('\n');
    if (tokens(this.picture) !== tokens(whole)) state.pinned = this.#hovered = null;
    state.at = index;
    const { kind } = this.#options;
    const kinds = attentionKinds(whole);
    // A picture that has only a mean keeps the choice.
    if (kinds.length && !kinds.includes(state.kind)) state.kind = kind || kinds[0];
    this.picture = pictureOfKind(whole, state.kind);
    if (kind && !this.picture.kind) this.picture = { ...this.picture, kind };
    this.#controls.show(this.#pictures, index, this.picture);
    this.#look();
    this.#shown();
  }

  choose(change) {
    const { state } = this;
    const other = change.kind !== undefined && change.kind !== state.kind;
    Object.assign(state, change);
    if (other && this.picture) {
      this.show(state.at);
      return;
    }
    this.#controls.mark();
    if (!this.picture) return;
    this.#look();
    this.#shown();
  }

  #write() {
    this.#controls.write();
    this.#table.write();
  }

  #shown() {
    if (this.#options.onshow) this.#options.onshow(this.state);
  }

  // --- drawing ---
  #look() {
    const { layer, head } = this.state;
    this.weights = chosenWeights(this.picture, layer, head);
    this.#rows.draw(this.picture, this.weights, this.#controls.coloured(this.picture));
    this.#grid.draw(this.picture);
    this.#grid.mark(layer, head);
    this.#drawMap();
    this.#table.draw(this.picture, this.weights);
    this.#light();
  }

  // The heads are next to the map where there is space for both.
  #drawMap() {
    const all = this.#rows.element.clientWidth || 600;
    const grid = this.#grid.element;
    const rest = all - (grid.hidden ? 0 : grid.offsetWidth + 50);
    this.#heat.draw(this.picture, this.weights, rest >= LEAST ? rest : all);
  }

  // --- lighting up: what is pointed at, or else what is selected ---
  activate(at) {
    clearTimeout(this.#leaving);
    if (this.#inside(at)) {
      this.#hovered = at;
      this.#light();
      return;
    }
    this.#leaving = setTimeout(() => {
      if (!this.#hovered) return;
      this.#hovered = null;
      this.#light();
    }, CROSSING);
  }

  pin(at) {
    clearTimeout(this.#leaving);
    const pinned = this.#inside(at) && !same(at, this.state.pinned) ? at : null;
    const changed = pinned !== this.state.pinned;
    this.state.pinned = pinned;
    if (!pinned) this.#hovered = null;
    this.#light();
    if (changed) this.#shown();
  }

  #inside(at) {
    if (!at || !this.picture) return false;
    const { source, target } = this.picture;
    return at.side ? at.i < this.picture[at.side].length : at.t < target.length && at.s < source.length;
  }

  #light() {
    const { state } = this;
    state.active = this.#hovered || state.pinned;
    this.#rows.light(state.active, same(state.active, state.pinned));
    this.#heat.light(state.active);
    this.#readout.textContent = readout(this.picture, this.weights, state.active);
    if (this.#options.onlight) this.#options.onlight(state.active, this.weights);
  }

  // --- saving ---
  async #save(kind) {
    const { layer, head } = this.state;
    const name = this.#options.fileName || 'attention';
    const matches = (one) =>
      (layer === '' || one.layer === Number(layer)) && (head === '' || one.head === Number(head));
    const chosen = headMaps(this.picture).some(matches) && (layer !== '' || head !== '');
    const heading = chosen ? headLabel(layer, head) : '';
    const json = this.#options.json || pictureJson;
    if (kind === 'SVG') saveFile(name + '.svg', mapSvg(this.picture, this.weights, heading), 'image/svg+xml');
    else if (kind === 'PNG') saveFile(name + '.png', await mapPng(this.#heat.map, 900));
    else saveFile(name + '.json', json(this.picture), 'application/json');
  }
}

export function attentionView(root, pictures, options = {}) {
  const view = new AttentionView(root, options);
  view.set(pictures);
  return view;
}
