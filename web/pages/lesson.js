// The worked example: pointing at a number, or moving to it with the keys, shows the numbers it was made from.
import '../styles/base.css';
import '../styles/attention.css';
import '../styles/explain.css';
import { attentionView } from '../attention/attention_view.js';
import { make, readData } from '../lib/dom.js';
import { connectThemeButton } from '../lib/theme.js';
import { stepsWords } from '../words/steps.js';

connectThemeButton(document.querySelector('.theme-button'));
const place = document.getElementById('attention');
if (place) attentionView(place, readData('pictures'), { kind: place.dataset.kind || undefined });

// Every table by its name, and per head by NAME.HEAD: its cells and the words of its rows and columns.
const tables = new Map();
for (const figure of document.querySelectorAll('[data-matrix]')) {
  const id = figure.dataset.matrix;
  // Sums of folded tables are written below them.
  if (!id || document.body.dataset.folded || document.querySelector('[data-folded]')) continue;
  const lines = [...figure.querySelectorAll('tr')];
  const body = lines.filter((line) => line.querySelector('td[class]'));
  tables.set(id, {
    id,
    cells: body.map((line) => [...line.querySelectorAll('td[class]')]),
    rows: body.map((line, i) => (line.querySelector('th') ? line.querySelector('th').textContent : String(i + 1))),
    columns: [...figure.querySelectorAll('th[scope="col"]')].map((th) => th.textContent),
  });
}
const working = document.getElementById('working');
const text = (cell) => cell.textContent;
// W_Q as W with a small Q below, as everywhere on the page.
const symbol = (name) =>
  name.split(/(_[A-Z])/).map((part) => (/^_[A-Z]$/.test(part) ? make('sub', {}, part[1]) : part));
const factor = (cell) => (text(cell).startsWith('−') ? `(${text(cell)})` : text(cell));
const row = (table, i) => table.cells[i];
const column = (table, j) => table.cells.map((line) => line[j]);
const sum = (a, b) => {
  const terms = a.map((cell, i) => `${factor(cell)}·${factor(b[i])}`);
  return terms.length > 8 ? [...terms.slice(0, 6), '…', terms[terms.length - 1]].join(' + ') : terms.join(' + ');
};

// What the cell (i, j) of a table was made from: cells, and the sum that gives it.
function origin(table, i, j) {
  const [name, h] = table.id.split('.');
  const of = (other) => tables.get(h === undefined ? other : `${other}.${h}`);
  const product = (a, b, names) => ({
    from: [...a, ...b],
    how: sum(a, b),
    parts: names && [
      [names[0], a],
      [names[1], b],
    ],
  });
  const shared = { Q: 'W_Q', K: 'W_K', V: 'W_V' }[name];
  if (shared) {
    const width = table.cells[0].length;
    return product(row(tables.get('X'), i), column(tables.get(shared), Number(h) * width + j), [
      `X[${table.rows[i]}]`,
      `${shared}, ${Number(h) * width + j + 1}`,
    ]);
  }
  if (name === 'S') return product(row(of('Q'), i), row(of('K'), j), [`Q[${table.rows[i]}]`, `K[${table.columns[j]}]`]);
  if (name === 'S/√d') {
    const score = of('S').cells[i][j];
    const d = of('Q').cells[0].length;
    return text(table.cells[i][j]) === '−∞'
      ? { from: [score], how: 'hidden: it comes later' }
      : { from: [score], how: `${text(score)} / √${d}` };
  }
  if (name === 'A') {
    // As it is computed: the row's largest score is taken from all first, so that nothing overflows.
    const scaled = row(of('S/√d'), i);
    const number = (cell) => Number(text(cell).replace('−', '-').replace('∞', 'Infinity'));
    const most = scaled.reduce((best, cell) => (number(cell) > number(best) ? cell : best));
    const minus = text(most).startsWith('−') ? ` + ${text(most).slice(1)}` : ` − ${text(most)}`;
    const power = (cell) => `e^(${text(cell)}${minus})`;
    return {
      from: scaled,
      how: `${power(scaled[j])} / (${scaled
        .filter((cell) => text(cell) !== '−∞')
        .map(power)
        .join(' + ')})`,
    };
  }
  if (name === 'Z') return product(row(of('A'), i), column(of('V'), j), [`A[${table.rows[i]}]`, `V, ${j + 1}`]);
  if (name === '[Z]') {
    const width = tables.get('Z.0').cells[0].length;
    const cell = tables.get(`Z.${Math.floor(j / width)}`).cells[i][j % width];
    return { from: [cell], how: `head ${Math.floor(j / width) + 1}` };
  }
  if (name === 'O')
    return product(row(tables.get('[Z]'), i), column(tables.get('W_O'), j), [`[Z][${table.rows[i]}]`, `W_O, ${j + 1}`]);
  return null;
}

// --- the steps one after the other ---------------------------------------------------------------------------------
const steps = [...document.querySelectorAll('section.step')];
let at = -1; // all of them
let playing = 0;
const button = (cls, go) => make('button', { type: 'button', class: 'small ' + cls, onclick: go });
const back = button('back', () => {
  stop();
  go(at < 0 ? 0 : at - 1);
});
const play = button('play', () => (playing ? stop() : start()));
const on = button('on', () => {
  stop();
  go(at + 1);
});
const whole = button('whole', () => {
  stop();
  go(-1);
});
const where = make('output', { class: 'where' });
const player = make('nav', { class: 'player' }, back, play, on, where, whole);
function label() {
  const w = stepsWords;
  back.textContent = '‹';
  on.textContent = '›';
  back.setAttribute('aria-label', w.stepBack);
  on.setAttribute('aria-label', w.stepOn);
  play.textContent = playing ? w.pause : w.play;
  whole.textContent = w.allSteps;
  where.textContent = at < 0 ? '' : w.stepOf(at + 1, steps.length);
  back.disabled = at <= 0;
  on.disabled = at === steps.length - 1;
  whole.disabled = at < 0;
}
function go(to) {
  at = Math.max(-1, Math.min(steps.length - 1, to));
  steps.forEach((step, i) => {
    step.hidden = at >= 0 && i !== at;
  });
  label();
  if (at >= 0) player.scrollIntoView({ block: 'nearest' });
}
function start() {
  if (at < 0 || at === steps.length - 1) go(0);
  playing = setInterval(() => {
    if (at + 1 < steps.length) go(at + 1);
    else stop();
  }, 4000);
  label();
}
function stop() {
  clearInterval(playing);
  playing = 0;
  label();
}
if (steps.length > 1) {
  steps[0].before(player);
  label();
  document.addEventListener('keydown', (event) => {
    if (event.target.closest('td, input, select, textarea, .attention')) return;
    if (event.key === 'ArrowRight') {
      stop();
      go(at + 1);
    } else if (event.key === 'ArrowLeft') {
      stop();
      go(Math.max(0, at - 1));
    } else if (event.key === ' ' && event.target === document.body) {
      event.preventDefault();
      play.click();
    }
  });
}

let lit = [];
function dark() {
  lit.forEach((cell) => cell.classList.remove('lit', 'chosen'));
  lit = [];
  working.hidden = true;
}
function light(table, i, j) {
  dark();
  const made = origin(table, i, j);
  if (!made) return;
  const cell = table.cells[i][j];
  cell.classList.add('chosen');
  made.from.forEach((other) => other.classList.add('lit'));
  lit = [cell, ...made.from];
  const name = table.id.split('.')[0];
  // The row and the column it was made from are usually in an earlier step, out of view: they come along.
  const seen = (other) => {
    const box = other.getBoundingClientRect();
    return box.top >= 0 && box.bottom <= window.innerHeight;
  };
  const away = (made.parts || []).filter(([, cells]) => !cells.every(seen));
  working.replaceChildren(
    ...away.map(([of, cells]) =>
      make(
        'span',
        { class: 'operand' },
        make('b', {}, ...symbol(of)),
        ...cells
          .slice(0, 16)
          .map((other) => make('i', { class: other.className.replace(/\b(lit|chosen)\b/g, '') }, text(other))),
        cells.length > 16 ? `… ${cells.length - 16}` : '',
      ),
    ),
    `${name}[${table.rows[i]}, ${table.columns[j] || j + 1}] = ${made.how} = ${text(cell)}`,
  );
  working.hidden = false;
}
for (const table of tables.values()) {
  if (!origin(table, 0, 0)) continue;
  table.cells.forEach((line, i) =>
    line.forEach((cell, j) => {
      cell.tabIndex = i === 0 && j === 0 ? 0 : -1;
      cell.addEventListener('pointerenter', () => light(table, i, j));
      cell.addEventListener('pointerleave', dark);
      cell.addEventListener('focus', () => light(table, i, j));
      cell.addEventListener('blur', dark);
      cell.addEventListener('keydown', (event) => {
        const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
        const next = step && table.cells[i + step[0]] && table.cells[i + step[0]][j + step[1]];
        if (event.key === 'Escape') dark();
        if (!next) return;
        event.preventDefault();
        cell.tabIndex = -1;
        next.tabIndex = 0;
        next.focus();
      });
    }),
  );
}
