// The worked example: pointing at a number, or moving to it with the keys, shows the numbers it was made from.
(function () {
  'use strict';
  Fovea.themeButton(document.querySelector('.theme-button'));
  const place = document.getElementById('attention');
  if (place) Fovea.attention(place, Fovea.data('pictures'));

  // Every table by its name, and per head by NAME.HEAD: its cells and the words of its rows and columns.
  const tables = new Map();
  for (const figure of document.querySelectorAll('[data-matrix]')) {
    const id = figure.dataset.matrix;
    if (!id) continue;
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
    const product = (a, b) => ({ from: [...a, ...b], how: sum(a, b) });
    const shared = { Q: 'W_Q', K: 'W_K', V: 'W_V' }[name];
    if (shared) {
      const width = table.cells[0].length;
      return product(row(tables.get('X'), i), column(tables.get(shared), Number(h) * width + j));
    }
    if (name === 'S') return product(row(of('Q'), i), row(of('K'), j));
    if (name === 'S/√d') {
      const score = of('S').cells[i][j];
      const d = of('Q').cells[0].length;
      return text(table.cells[i][j]) === '−∞' ? { from: [score], how: 'hidden: it comes later' } : { from: [score], how: `${text(score)} / √${d}` };
    }
    if (name === 'A') {
      const scaled = row(of('S/√d'), i);
      return { from: scaled, how: `e^${text(scaled[j])} / (${scaled.filter((cell) => text(cell) !== '−∞').map((cell) => 'e^' + text(cell)).join(' + ')})` };
    }
    if (name === 'Z') return product(row(of('A'), i), column(of('V'), j));
    if (name === '[Z]') {
      const width = tables.get('Z.0').cells[0].length;
      const cell = tables.get(`Z.${Math.floor(j / width)}`).cells[i][j % width];
      return { from: [cell], how: `head ${Math.floor(j / width) + 1}` };
    }
    if (name === 'O') return product(row(tables.get('[Z]'), i), column(tables.get('W_O'), j));
    return null;
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
    working.textContent = `${name}[${table.rows[i]}, ${table.columns[j] || j + 1}] = ${made.how} = ${text(cell)}`;
    working.hidden = false;
  }
  for (const table of tables.values()) {
    if (!origin(table, 0, 0)) continue;
    table.cells.forEach((line, i) => line.forEach((cell, j) => {
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
    }));
  }
})();
