// How the numbers of a worked example were made. A place is [table, row, column]; originOf(tables, place) is
// { operands, formula, parts }: the places that a number was made from, the sum in text, and the operands by name; or
// null for a table that was given.
import { messageText } from './messages.js';
import { numberText } from './tables.js';

const rowOf = (table, i) => table.values[i].map((_, j) => [table, i, j]);
const columnOf = (table, j) => table.values.map((_, i) => [table, i, j]);
const valueAt = ([table, i, j]) => table.values[i][j];
export const cellAt = ([table, i, j]) => table.cells[i][j];
export const textAt = ([table, i, j]) => numberText(table.values[i][j], table.decimals);
const rowName = (table, i) => (table.rows ? messageText(table.rows[i]) : String(i + 1));
const columnName = (table, j) => (table.columns ? messageText(table.columns[j]) : String(j + 1));
export const placeName = ([table, i, j]) => `${table.id.split('.')[0]}[${rowName(table, i)}, ${columnName(table, j)}]`;

function sumText(a, b) {
  const factor = (place) => (valueAt(place) < 0 ? `(${textAt(place)})` : textAt(place));
  const terms = a.map((place, i) => `${factor(place)}·${factor(b[i])}`);
  return terms.length > 8 ? [...terms.slice(0, 6), '…', terms[terms.length - 1]].join(' + ') : terms.join(' + ');
}

function product(a, b, aName, bName) {
  const parts = [
    [aName, a],
    [bName, b],
  ];
  return { operands: [...a, ...b], formula: sumText(a, b), parts };
}

// Q, K and V: a row of X times a column of the matrix that all heads share.
function projection(tables, [table, i, j], matrix) {
  const column = Number(table.id.split('.')[1]) * table.values[0].length + j;
  const x = tables.get('X');
  const weights = columnOf(tables.get(matrix), column);
  return product(rowOf(x, i), weights, `X[${rowName(x, i)}]`, `${matrix}, ${column + 1}`);
}

// As it is computed: the largest score of the row is subtracted first.
function softmax(scaled, i, j) {
  const visible = rowOf(scaled, i).filter((place) => valueAt(place) !== null);
  const largest = visible.reduce((best, place) => (valueAt(place) > valueAt(best) ? place : best));
  const minus = valueAt(largest) < 0 ? ` + ${textAt(largest).slice(1)}` : ` − ${textAt(largest)}`;
  const power = (place) => `e^(${textAt(place)}${minus})`;
  return { operands: rowOf(scaled, i), formula: `${power([scaled, i, j])} / (${visible.map(power).join(' + ')})` };
}

function division(place, score, width) {
  if (valueAt(place) === null) return { operands: [score], formula: messageText({ key: 'cell.hidden' }) };
  return { operands: [score], formula: `${textAt(score)} / √${width}` };
}

// A number of the concatenated heads.
function ofHead(tables, i, j) {
  const width = tables.get('Z.0').values[0].length;
  const head = Math.floor(j / width);
  const formula = messageText({ key: 'cell.head', values: { head: String(head + 1) } });
  return { operands: [[tables.get(`Z.${head}`), i, j % width]], formula };
}

export function originOf(tables, place) {
  const [table, i, j] = place;
  const [name, head] = table.id.split('.');
  const of = (other) => tables.get(`${other}.${head}`);
  switch (name) {
    case 'Q':
    case 'K':
    case 'V':
      return projection(tables, place, `W_${name}`);
    case 'S':
      return product(rowOf(of('Q'), i), rowOf(of('K'), j), `Q[${rowName(table, i)}]`, `K[${columnName(table, j)}]`);
    case 'S/√d':
      return division(place, [of('S'), i, j], of('Q').values[0].length);
    case 'A':
      return softmax(of('S/√d'), i, j);
    case 'Z':
      return product(rowOf(of('A'), i), columnOf(of('V'), j), `A[${rowName(table, i)}]`, `V, ${j + 1}`);
    case '[Z]':
      return ofHead(tables, i, j);
    case 'O': {
      const joined = tables.get('[Z]');
      const weights = columnOf(tables.get('W_O'), j);
      return product(rowOf(joined, i), weights, `[Z][${rowName(table, i)}]`, `W_O, ${j + 1}`);
    }
    default:
      return null;
  }
}
