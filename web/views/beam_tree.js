// The beam search as a tree that grows to the right: beamTree(element).set({ nodes, best }). A node is { id, parent,
// step, token, log_probability, finished }; `best` lists the ids of the winning path. Children are in the order of
// their parents, so no two lines cross. A tree that is a little too wide is drawn smaller; a wider one scrolls, and
// its edge fades where there is more. Only the visible steps are in the document.
import { formatPercent, joinTokens, tokenNames } from '../attention/weights.js';
import { cssColour, textColourOn, weightColour } from '../lib/colour.js';
import { make, shape } from '../lib/dom.js';
import { onLanguageChange } from '../lib/language.js';
import { onThemeChange } from '../lib/theme.js';
import { attentionWords } from '../words/attention.js';
import { beamWords } from '../words/beam.js';

const HIGH = 38; // of a row
const SMALLEST = 0.68; // of the size that words have elsewhere
const quill = document.createElement('canvas').getContext('2d');

// Columns of nodes from left to right, each with its place, its parent and its children.
function arrange(beam, family) {
  const byId = new Map(beam.nodes.map((node) => [node.id, { ...node, children: [], best: false }]));
  for (const id of beam.best || []) if (byId.has(id)) byId.get(id).best = true;
  const roots = [];
  for (const node of byId.values()) {
    node.up = byId.get(node.parent) || null;
    if (node.up && node.up !== node) node.up.children.push(node);
    else roots.push(node);
  }
  quill.font = `500 14px ${family}`;
  // The name of a subword that continues a word depends on the token before it.
  const first = beam.nodes.find((node) => (node.token || '').startsWith('▁'));
  const nameOf = (node) =>
    first && node.up && node.up.token ? tokenNames([first.token, node.token])[1] : tokenNames([node.token])[0];
  const columns = [];
  let level = roots;
  let x = 12;
  for (let guard = 0; level.length && guard < 5000; ++guard) {
    level.forEach((node, row) => {
      node.row = row;
      node.column = guard;
      node.name = node.word || (node.token ? nameOf(node) : `‹${attentionWords.start}›`);
      node.chance = Math.exp(Math.min(0, node.log_probability - (node.up ? node.up.log_probability : 0)));
      node.width = Math.max(26, Math.min(170, quill.measureText(node.name).width + 18));
    });
    const width = Math.max(...level.map((node) => node.width));
    columns.push({ x, width, nodes: level });
    x += width + 26;
    level = level.flatMap((node) => node.children.sort((a, b) => b.log_probability - a.log_probability));
  }
  // The winning path is a straight line, the others are above and below it.
  let line = 0;
  for (const column of columns) {
    const best = column.nodes.find((node) => node.best);
    line = best ? best.row : Math.min(line, column.nodes.length - 1);
    column.above = line;
  }
  const above = Math.max(0, ...columns.map((column) => column.above));
  const below = Math.max(0, ...columns.map((column) => column.nodes.length - column.above));
  for (const column of columns) {
    for (const node of column.nodes) {
      node.x = column.x;
      node.y = 6 + (above + node.row - column.above) * HIGH + HIGH / 2;
    }
  }
  // Which nodes lead to an end: the others were dropped on the way.
  for (let c = columns.length - 1; c >= 0; --c) {
    for (const node of columns[c].nodes) node.alive = node.finished || node.children.some((child) => child.alive);
  }
  return { columns, width: x - 14, height: (above + below) * HIGH + 12 };
}
const pathOf = (node) => {
  const path = [];
  for (let at = node; at; at = at.up) path.unshift(at);
  return path;
};

// The line to a node from its parent.
function lineTo(node) {
  const from = { x: node.up.x + node.up.width, y: node.up.y };
  const middle = (from.x + node.x) / 2;
  return shape('path', {
    d: `M${from.x} ${from.y}C${middle} ${from.y} ${middle} ${node.y} ${node.x} ${node.y}`,
    class: node.best ? 'best' : node.alive ? '' : 'lost',
  });
}

// A node in the colour of its probability.
function markOf(node) {
  const colour = weightColour(node.chance);
  const dropped = node.alive ? '' : beamWords.dropped;
  const state = node.best ? beamWords.best : node.finished ? beamWords.finished : dropped;
  const middle = { x: node.x + node.width / 2, y: node.y, dy: '0.35em', 'text-anchor': 'middle' };
  const label = shape('text', { ...middle, fill: textColourOn(colour) }, node.name);
  const place = { x: node.x, y: node.y - 13, width: node.width, height: 26, rx: 7 };
  const mark = shape(
    'g',
    {
      class: 'beam-node ' + (node.best ? 'best ' : node.alive ? '' : 'lost ') + (node.finished ? 'finished' : ''),
      role: 'treeitem',
      'aria-level': node.column + 1,
      'aria-label': [node.name, formatPercent(node.chance), state].filter(Boolean).join(', '),
      'data-id': node.id,
    },
    shape('rect', { ...place, fill: cssColour(colour) }),
    label,
  );
  mark.node = node;
  return mark;
}

// The node that an arrow key leads to.
function nextNode(tree, node, key) {
  const column = tree.columns[node.column].nodes;
  const onward = [(child) => child.best, (child) => child.alive, () => true];
  if (key === 'ArrowLeft') return node.up;
  if (key === 'ArrowRight') return onward.map((wanted) => node.children.find(wanted)).find(Boolean);
  return { ArrowUp: column[node.row - 1], ArrowDown: column[node.row + 1] }[key];
}

export function beamTree(root) {
  const readout = make('output', { class: 'attention-readout', 'aria-live': 'polite' });
  const svg = shape('svg', { class: 'beam-tree', role: 'tree' });
  const scroll = make('div', { class: 'beam-scroll' }, svg);
  root.replaceChildren(scroll, readout);
  let beam = null;
  let tree = null;
  let active = null;
  let home = null; // the node that Tab reaches
  let shown = [];
  let range = '';
  let scale = 1;

  // As large as the width allows, within reason.
  function size() {
    const room = scroll.clientWidth || tree.width;
    scale = tree.width * SMALLEST <= room ? Math.min(1, room / tree.width) : 1;
    svg.setAttribute('viewBox', `0 0 ${tree.width} ${tree.height}`);
    svg.setAttribute('width', Math.floor(tree.width * scale));
    svg.setAttribute('height', Math.ceil(tree.height * scale));
    edges();
  }
  const edges = () => {
    scroll.classList.toggle('more-left', scroll.scrollLeft > 2);
    scroll.classList.toggle('more-right', scroll.scrollLeft + scroll.clientWidth < scroll.scrollWidth - 2);
  };

  function set(newBeam) {
    beam = newBeam;
    root.hidden = !beam || beam.nodes.length === 0;
    if (root.hidden) {
      tree = null;
      return;
    }
    tree = arrange(beam, getComputedStyle(root).fontFamily);
    active = null;
    const bestPath = tree.columns.flatMap((column) => column.nodes.filter((node) => node.best));
    home = bestPath[0] || tree.columns[0].nodes[0];
    svg.setAttribute('aria-label', beamWords.beam);
    size();
    render(true);
  }

  function render(force) {
    if (!tree) return;
    const from = scroll.scrollLeft / scale - 500;
    const to = (scroll.scrollLeft + (scroll.clientWidth || 1200)) / scale + 500;
    const seen = tree.columns.filter((column) => column.x + column.width >= from && column.x <= to);
    const now = seen.length ? `${seen[0].nodes[0].column}-${seen.length}` : '';
    if (!force && now === range) return;
    range = now;
    const focused = svg.contains(document.activeElement);
    const lines = shape('g', { class: 'beam-lines', 'aria-hidden': 'true' });
    const marks = shape('g', { role: 'none' });
    shown = seen.flatMap((column) => column.nodes);
    for (const node of [...shown].sort((a, b) => Number(a.best) - Number(b.best))) {
      node.line = node.up ? lineTo(node) : null;
      if (node.line) lines.append(node.line);
    }
    for (const node of shown) {
      node.mark = markOf(node);
      marks.append(node.mark);
    }
    svg.replaceChildren(lines, marks);
    light();
    if (focused && (active || home).mark) (active || home).mark.focus({ preventScroll: true });
  }

  // The path from the start to the node that is followed.
  function light() {
    const lit = new Set(active ? pathOf(active) : []);
    for (const node of shown) {
      node.mark.classList.toggle('lit', lit.has(node));
      node.mark.setAttribute('tabindex', node === (active || home) ? '0' : '-1');
      node.mark.setAttribute('aria-selected', String(node === active));
      if (node.line) node.line.classList.toggle('lit', lit.has(node));
    }
    svg.classList.toggle('following', lit.size > 0);
    readout.textContent = active
      ? beamWords.beamNode(
          joinTokens(pathOf(active).map((node) => node.token || '')) || active.name,
          formatPercent(active.chance),
          active.log_probability.toFixed(2),
        )
      : beamWords.beamHint;
  }

  function follow(node) {
    if (node === active) return;
    active = node;
    if (node) home = node;
    light();
  }
  const followed = (event) => {
    const group = event.target.closest && event.target.closest('.beam-node');
    if (group) follow(group.node);
  };
  for (const name of ['pointerover', 'focusin', 'click']) svg.addEventListener(name, followed);
  svg.addEventListener('pointerleave', (event) => {
    if (event.pointerType !== 'touch' && !svg.contains(document.activeElement)) follow(null);
  });
  svg.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') follow(null);
    if (!event.key.startsWith('Arrow')) return;
    event.preventDefault();
    const to = nextNode(tree, active || home, event.key);
    if (!to) return;
    const off = to.x * scale - scroll.scrollLeft;
    if (off < 20 || off > scroll.clientWidth - to.width * scale - 20)
      scroll.scrollLeft = to.x * scale - scroll.clientWidth / 2;
    render(false);
    follow(to);
    to.mark.focus({ preventScroll: true });
  });
  scroll.addEventListener(
    'scroll',
    () =>
      requestAnimationFrame(() => {
        edges();
        render(false);
      }),
    { passive: true },
  );
  let width = 0;
  new ResizeObserver(() => {
    if (!tree || scroll.clientWidth === width) return;
    width = scroll.clientWidth;
    size();
    render(true);
  }).observe(scroll);
  onThemeChange(() => render(true));
  onLanguageChange(() => {
    if (beam) set(beam);
  });
  return { set };
}
