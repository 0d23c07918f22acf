// Pointing at a number, or moving to it with the keys, marks its operands and writes its sum:
// operandDisplay() is { element, connect(tables), clear() }.
import { make } from '../lib/dom.js';
import { symbols } from './messages.js';
import { cellAt, originOf, placeName, textAt } from './origins.js';

const MOST_SHOWN = 16; // numbers of an operand
const moves = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

const inView = (cell) => {
  const box = cell.getBoundingClientRect();
  return box.top >= 0 && box.bottom <= window.innerHeight;
};

// An operand that is out of view, usually in an earlier step: its name and its numbers.
function operandLine([name, places]) {
  const numbers = places.slice(0, MOST_SHOWN).map((place) => {
    const copy = make('i', {}, textAt(place));
    copy.style.cssText = cellAt(place).style.cssText;
    return copy;
  });
  const more = places.length > MOST_SHOWN ? `… ${places.length - MOST_SHOWN}` : '';
  return make('span', { class: 'operand' }, make('b', {}, ...symbols(name)), ...numbers, more);
}

export function operandDisplay() {
  const element = make('p', { class: 'working', id: 'working', role: 'status', hidden: true });
  let marked = [];

  function clear() {
    marked.forEach((cell) => cell.classList.remove('lit', 'chosen'));
    marked = [];
    element.hidden = true;
  }

  function show(tables, place) {
    clear();
    const { operands, formula, parts = [] } = originOf(tables, place);
    marked = [place, ...operands].map(cellAt);
    marked.forEach((cell, n) => cell.classList.add(n === 0 ? 'chosen' : 'lit'));
    const away = parts.filter(([, places]) => !places.map(cellAt).every(inView));
    element.replaceChildren(...away.map(operandLine), `${placeName(place)} = ${formula} = ${textAt(place)}`);
    element.hidden = false;
  }

  function moveFocus(event, [table, i, j]) {
    if (event.key === 'Escape') clear();
    const move = moves[event.key];
    const next = move && table.cells[i + move[0]] && table.cells[i + move[0]][j + move[1]];
    if (!next) return;
    event.preventDefault();
    table.cells[i][j].tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  }

  function connectCell(tables, place) {
    const cell = cellAt(place);
    cell.tabIndex = place[1] === 0 && place[2] === 0 ? 0 : -1;
    cell.addEventListener('pointerenter', () => show(tables, place));
    cell.addEventListener('pointerleave', clear);
    cell.addEventListener('focus', () => show(tables, place));
    cell.addEventListener('blur', clear);
    cell.addEventListener('keydown', (event) => moveFocus(event, place));
  }

  // tables: those that have an id, by it.
  function connect(tables) {
    for (const table of tables.values()) {
      if (!originOf(tables, [table, 0, 0])) continue;
      table.values.forEach((line, i) => line.forEach((_, j) => connectCell(tables, [table, i, j])));
    }
  }

  return { element, connect, clear };
}
