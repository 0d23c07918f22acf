// Draws attention: attentionView(element, pictures, options). A picture is a line of `fovea run --attention`:
//   { source: [token], target: [token], weights: [[number]], title?, copied?: [number],
//     attention?: [{ kind, layer, head, queries, keys, weights }] }
// Pointing at a token, or moving to it with the keys, lights up what it attended to, in both directions. It returns
// set(pictures), show(index), choose({ kind, layer, head, colour }), activate(token), pin(token) and state.
//   options.onshow(state)              the reader has chosen something
//   options.onlight(active, weights)   a token or a cell is lit
//   options.fileName, options.kind, options.json(picture)   for saving, and the kind of attention to show first
import { make } from '../lib/dom.js';
import { onLanguageChange } from '../lib/language.js';
import { onThemeChange } from '../lib/theme.js';
import { attentionWords } from '../words/attention.js';
import { headGrid } from './head_grid.js';
import { heatMap } from './heat_map.js';
import { mapPng, mapSvg, pictureJson, saveFile } from './save.js';
import { tokenRows } from './token_rows.js';
import {
  attentionKinds,
  attentionShares,
  chosenWeights,
  formatPercent,
  gridRow,
  headMaps,
  joinTokens,
  pictureOfKind,
  strongest,
  tokenNames,
} from './weights.js';

const FULL = 1600; // cells up to which the table shows every weight

export function attentionView(root, pictures, options = {}) {
  const state = { at: 0, kind: '', layer: '', head: '', colour: false, active: null, pinned: null };
  let picture = null;
  let weights = null;
  let hovered = null;
  root.classList.add('attention');

  // --- the parts -------------------------------------------------------------------------------------------------
  const owner = { onactive: activate, onpin: (at) => pin(at) };
  const rows = tokenRows(owner);
  const heat = heatMap(owner);
  const grid = headGrid((change) => choose(change));
  const bar = make('div', { class: 'attention-bar' });
  const pick = make('select', { onchange: () => show(pick.selectedIndex) });
  const previous = make('button', { type: 'button', class: 'step', onclick: () => show(state.at - 1) }, '‹');
  const next = make('button', { type: 'button', class: 'step', onclick: () => show(state.at + 1) }, '›');
  const kind = make('select', {
    class: 'choose-kind',
    onchange: () => choose({ kind: kind.value, layer: '', head: '' }),
  });
  const kindName = make('span');
  const kinds = make('label', { class: 'kinds' }, kindName, kind);
  const colour = make('button', {
    type: 'button',
    class: 'small colour',
    'aria-pressed': 'false',
    onclick: () => choose({ colour: !state.colour }),
  });
  const chips = make('span', { class: 'colour-chips', role: 'group' });
  const off = new Set(); // heads whose colour is switched off
  const layer = make('select', { onchange: () => choose({ layer: layer.value }) });
  const head = make('select', { onchange: () => choose({ head: head.value }) });
  const layerName = make('span');
  const headName = make('span');
  const heads = make(
    'span',
    { class: 'choose-head' },
    make('label', {}, layerName, layer),
    make('label', {}, headName, head),
    colour,
  );
  const savers = ['SVG', 'PNG', 'JSON'].map((kind) =>
    make('button', { type: 'button', class: 'small save', 'data-kind': kind, onclick: () => save(kind) }, kind),
  );
  const saveName = make('span', { class: 'save-name', 'aria-hidden': 'true' });
  const saving = make('span', { class: 'saving', role: 'group' }, saveName, ...savers);
  bar.append(previous, make('label', { class: 'pick' }, pick), next, kinds, heads, chips, saving);
  const readout = make('output', { class: 'attention-readout', 'aria-live': 'polite' });
  const summary = make('summary');
  const table = make('table', { class: 'weights-table' });
  const details = make(
    'details',
    { class: 'weights', ontoggle: () => tabulate() },
    summary,
    make('div', { class: 'weights-scroll' }, table),
  );
  root.replaceChildren(
    bar,
    rows.element,
    readout,
    make('div', { class: 'attention-maps' }, heat.element, grid.element),
    details,
  );

  function name() {
    const w = attentionWords;
    kindName.textContent = w.kind;
    kind.setAttribute('aria-label', w.kind);
    colour.textContent = w.colour;
    colour.title = w.colourHint;
    chips.setAttribute('aria-label', w.colour);
    layerName.textContent = w.layer;
    headName.textContent = w.head;
    layer.setAttribute('aria-label', w.layer);
    head.setAttribute('aria-label', w.head);
    pick.setAttribute('aria-label', w.sentence);
    previous.setAttribute('aria-label', w.previous);
    next.setAttribute('aria-label', w.next);
    saveName.textContent = w.save;
    saving.setAttribute('aria-label', w.save);
    savers.forEach((b) => {
      b.setAttribute('aria-label', w.saveAs(b.dataset.kind));
      b.title = w.saveAs(b.dataset.kind);
    });
    summary.textContent = w.table;
  }

  // --- choosing --------------------------------------------------------------------------------------------------
  // Other pictures in the same place; as many as before keep the sentence that is shown.
  function set(list) {
    const same = list.length === pictures.length;
    pictures = list;
    name();
    pick.replaceChildren(
      ...pictures.map((one, i) => {
        const text = one.title || joinTokens(one.source) || attentionWords.empty;
        return make('option', {}, `${i + 1}. ${text.length > 90 ? text.slice(0, 90) + '…' : text}`);
      }),
    );
    root.hidden = pictures.length === 0;
    show(same ? state.at : 0);
  }

  function show(index) {
    if (index < 0 || index >= pictures.length) return;
    // What was kept stays kept when the same tokens come again, with their heads.
    const tokens = (one) => one && [...one.source, '', ...one.target].join('\n');
    if (tokens(picture) !== tokens(pictures[index])) state.pinned = hovered = null;
    state.at = index;
    const there = attentionKinds(pictures[index]);
    // A picture that has only a mean keeps the choice.
    if (there.length && !there.includes(state.kind)) state.kind = options.kind || there[0];
    kinds.hidden = there.length < 2;
    kind.replaceChildren(...there.map((one) => make('option', { value: one }, attentionWords.kinds[one] || one)));
    kind.value = state.kind;
    picture = pictureOfKind(pictures[index], state.kind);
    if (options.kind && !picture.kind) picture = { ...picture, kind: options.kind };
    pick.selectedIndex = index;
    previous.disabled = index === 0;
    next.disabled = index === pictures.length - 1;
    previous.hidden = next.hidden = pick.parentElement.hidden = pictures.length < 2;
    const list = headMaps(picture);
    heads.hidden = list.length < 2;
    for (const [box, key] of [
      [layer, 'layer'],
      [head, 'head'],
    ]) {
      const numbers = [...new Set(list.map((one) => one[key]))].sort((a, b) => a - b);
      box.replaceChildren(
        make('option', { value: '' }, attentionWords.mean),
        ...numbers.map((n) => make('option', { value: n }, String(n))),
      );
      if (list.length && state[key] !== '' && !numbers.includes(Number(state[key]))) state[key] = '';
      box.value = state[key];
    }
    look();
    if (options.onshow) options.onshow(state);
  }

  function choose(change) {
    const other = change.kind !== undefined && change.kind !== state.kind;
    Object.assign(state, change);
    if (other && picture) {
      show(state.at);
      return;
    }
    layer.value = state.layer;
    head.value = state.head;
    if (!picture) return;
    look();
    if (options.onshow) options.onshow(state);
  }

  function look() {
    weights = chosenWeights(picture, state.layer, state.head);
    rows.draw(picture, weights, coloured());
    grid.draw(picture);
    grid.mark(state.layer, state.head);
    heat.draw(picture, weights, room());
    tabulate();
    light();
  }

  // Several heads at once, each in a colour of its own: those of the chosen layer, or of all layers by their mean.
  function coloured() {
    const numbers = [...new Set(headMaps(picture).map((one) => one.head))].sort((a, b) => a - b);
    colour.hidden = numbers.length < 2;
    colour.setAttribute('aria-pressed', String(state.colour && !colour.hidden));
    chips.hidden = !state.colour || colour.hidden;
    chips.replaceChildren();
    if (chips.hidden) return null;
    // All equally bright, in light and dark.
    const hue = (n) => `oklch(0.64 0.15 ${Math.round((360 * n) / numbers.length) + 20})`;
    chips.append(
      ...numbers.map((n, i) => {
        const chip = make(
          'button',
          {
            type: 'button',
            class: 'chip',
            'data-head': n,
            'aria-pressed': String(!off.has(n)),
            'aria-label': `${attentionWords.head} ${n}`,
            title: `${attentionWords.head} ${n}`,
            onclick: () => {
              if (!off.delete(n)) off.add(n);
              look();
              chips.children[i].focus();
            },
          },
          String(n),
        );
        chip.style.setProperty('--chip', hue(i));
        return chip;
      }),
    );
    return numbers
      .map((n, i) => ({ head: n, colour: hue(i), weights: off.has(n) ? null : chosenWeights(picture, state.layer, n) }))
      .filter((one) => one.weights);
  }

  // The heads stand beside the map where there is space for both.
  const room = () => {
    const all = rows.element.clientWidth || 600;
    const beside = grid.element.hidden ? 0 : grid.element.offsetWidth + 50;
    return all - beside >= 360 ? all - beside : all;
  };

  // --- lighting up: what is pointed at, or else what was kept ------------------------------------------------------
  const inside = (at) =>
    Boolean(
      at &&
      picture &&
      (at.side ? at.i < picture[at.side].length : at.t < picture.target.length && at.s < picture.source.length),
    );
  const same = (a, b) => Boolean(a && b && a.side === b.side && a.i === b.i && a.t === b.t && a.s === b.s);
  let leaving = 0;
  function activate(at) {
    clearTimeout(leaving);
    if (inside(at)) {
      hovered = at;
      light();
      return;
    }
    // Between two words there is nothing: what is lit stays for the moment it takes to cross that.
    leaving = setTimeout(() => {
      if (hovered) {
        hovered = null;
        light();
      }
    }, 90);
  }
  function pin(at) {
    clearTimeout(leaving);
    const kept = inside(at) && !same(at, state.pinned) ? at : null;
    const changed = kept !== state.pinned;
    state.pinned = kept;
    if (!kept) hovered = null;
    light();
    if (changed && options.onshow) options.onshow(state);
  }
  function light() {
    state.active = hovered || state.pinned;
    rows.light(state.active, same(state.active, state.pinned));
    heat.light(state.active);
    say();
    if (options.onlight) options.onlight(state.active, weights);
  }

  function say() {
    const at = state.active;
    if (!at) {
      readout.textContent = attentionWords.hint;
      return;
    }
    const source = tokenNames(picture.source);
    const target = tokenNames(picture.target);
    const list = (shares, names) =>
      strongest(shares, 4, 0.005)
        .map((i) => `${names[i]} ${formatPercent(shares[i])}`)
        .join(', ') || attentionWords.nothing;
    const shares = attentionShares(weights, at);
    const copied =
      at.side === 'target' && picture.copied
        ? ' · ' + attentionWords.copiedShare(formatPercent(picture.copied[at.i]))
        : '';
    if (at.side === 'target')
      readout.textContent = attentionWords.attended(target[at.i], list(shares.source, source)) + copied;
    else if (at.side === 'source')
      readout.textContent = attentionWords.received(source[at.i], list(shares.target, target));
    else
      readout.textContent = attentionWords.cell(
        target[at.t],
        source[at.s],
        weights.values[at.t * weights.columns + at.s].toFixed(4),
      );
  }

  // --- the same numbers as a table, made when it is opened
  // ----------------------------------------------------------
  function tabulate() {
    table.replaceChildren();
    if (!details.open || !picture) return;
    const source = tokenNames(picture.source);
    const target = tokenNames(picture.target);
    const full = source.length * target.length <= FULL;
    const line = (...cells) => make('tr', {}, ...cells);
    const top = full
      ? source.map((s) => make('th', { scope: 'col' }, s))
      : [make('th', { scope: 'col' }, attentionWords.strongest)];
    const body = target.map((t, i) => {
      const row = gridRow(weights, i);
      const cells = full
        ? Array.from(row, (w) => make('td', {}, w.toFixed(3)))
        : [
            make(
              'td',
              { class: 'words' },
              strongest(row, 5, 0.005)
                .map((s) => `${source[s]} ${formatPercent(row[s])}`)
                .join(', '),
            ),
          ];
      return line(make('th', { scope: 'row' }, t), ...cells);
    });
    table.append(make('thead', {}, line(make('td'), ...top)), make('tbody', {}, ...body));
  }

  async function save(kind) {
    const name = options.fileName || 'attention';
    const there = headMaps(picture).some(
      (one) =>
        (state.layer === '' || one.layer === Number(state.layer)) &&
        (state.head === '' || one.head === Number(state.head)),
    );
    const which =
      !there || (state.layer === '' && state.head === '')
        ? ''
        : state.layer === ''
          ? attentionWords.headMean(state.head)
          : state.head === ''
            ? attentionWords.layerMean(state.layer)
            : attentionWords.oneHead(state.layer, state.head);
    if (kind === 'SVG') saveFile(name + '.svg', mapSvg(picture, weights, which), 'image/svg+xml');
    else if (kind === 'PNG') saveFile(name + '.png', await mapPng(heat.map, 900));
    else saveFile(name + '.json', options.json ? options.json(picture) : pictureJson(picture), 'application/json');
  }

  onThemeChange(() => {
    if (picture) {
      heat.draw(picture, weights, room());
      light();
    }
  });
  onLanguageChange(() => {
    name();
    if (picture) show(state.at);
  });
  let width = 0;
  new ResizeObserver(() => {
    if (root.clientWidth === width || !picture) return;
    width = root.clientWidth;
    heat.draw(picture, weights, room());
    rows.resize();
  }).observe(root);
  set(pictures);
  return {
    set,
    show,
    choose,
    activate,
    pin,
    state,
    get weights() {
      return weights;
    },
    get picture() {
      return picture;
    },
  };
}
