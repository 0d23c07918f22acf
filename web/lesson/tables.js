// The matrices of a worked example as coloured tables.
import { colourScale, cssColour, textColourOn } from '../lib/colour.js';
import { make } from '../lib/dom.js';
import { currentTheme } from '../lib/theme.js';
import { messageText, symbols } from './messages.js';

const SIGNED = 0.62; // the part of the colour scales that signed numbers use, so that they stay easy to read

// Rounded as in the terminal: ties to the even digit. null is −∞.
export function numberText(value, decimals) {
  if (value === null) return '−∞';
  const scaled = Math.abs(value) * 10 ** decimals;
  const even = scaled % 2 === 0.5 ? (Math.sign(value) * Math.floor(scaled)) / 10 ** decimals : value;
  const text = even.toFixed(decimals);
  return /^-0\.?0*$/.test(text) ? text.slice(1) : text.replace('-', '−');
}

export function paintCells({ cells, values, weights }) {
  const most = Math.max(...values.flat().map(Math.abs)) || 1;
  cells.flat().forEach((cell, n) => {
    const value = values.flat()[n];
    if (value === null) return;
    const share = weights ? value : (SIGNED * Math.abs(value)) / most;
    const scale = colourScale(value < 0 ? 'warm' : 'cool', currentTheme());
    const colour = scale[Math.round(Math.max(0, Math.min(1, share)) * 255)];
    cell.style.backgroundColor = cssColour(colour);
    cell.style.color = textColourOn(colour);
  });
}

// The table as a figure; table.cells become its elements.
export function drawTable(table) {
  const { rows, columns, values, decimals } = table;
  const label = (scope, message) => make('th', { scope }, make('bdi', {}, messageText(message)));
  table.cells = values.map((line) =>
    line.map((value) => make('td', { class: value === null ? 'never' : '' }, numberText(value, decimals))),
  );
  const lines = table.cells.map((line, i) => make('tr', {}, ...(rows ? [label('row', rows[i])] : []), ...line));
  if (columns) {
    const corner = rows ? [make('td')] : [];
    lines.unshift(make('tr', {}, ...corner, ...columns.map((column) => label('col', column))));
  }
  paintCells(table);
  const note = table.note ? messageText(table.note) : `${values.length} × ${values[0].length}`;
  return make(
    'figure',
    { class: 'matrix', 'data-matrix': table.id },
    make('figcaption', {}, make('b', {}, ...symbols(messageText(table.name))), ' ', make('small', {}, note)),
    make('div', { class: 'matrix-scroll' }, make('table', {}, ...lines)),
  );
}
