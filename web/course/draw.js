// The drawings of the lessons: sliders, bars, vectors as strips, heat maps with numbers, curves.
import { colourScale, cssColour, textColourOn } from '../lib/colour.js';
import { make, shape } from '../lib/dom.js';
import { currentTheme } from '../lib/theme.js';

// Numbers as the pages write them: a real minus, and no −0.00.
const number = (value, digits = 2) => {
  const text = value.toFixed(digits);
  return /^-0\.?0*$/.test(text) ? text.slice(1) : text.replace('-', '−');
};
const share = (value) => `${Math.round(100 * value)} %`;

// A labelled slider with its value: { element, value, set(value) }.
function slider({ name, min, max, step, value, show = (v) => number(v, 1), oninput }) {
  const input = make('input', { type: 'range', min, max, step, 'aria-label': name });
  const output = make('output', {});
  const report = () => {
    output.textContent = show(Number(input.value));
    input.setAttribute('aria-valuetext', output.textContent);
  };
  input.value = value;
  input.addEventListener('input', () => {
    report();
    oninput(Number(input.value));
  });
  report();
  return {
    element: make('label', { class: 'slider' }, make('span', { class: 'slider-name' }, name), input, output),
    get value() {
      return Number(input.value);
    },
    set(to) {
      input.value = to;
      report();
    },
  };
}

// A bar for each name: bars(host, [{ name, value, text }], most). Negative values go to the left of the middle.
function bars(host, list, most = 1) {
  const both = list.some((one) => one.value < 0);
  host.classList.add('bars');
  host.replaceChildren(
    ...list.map(({ name, value, text, mark }) => {
      const fill = make('span', { class: value < 0 ? 'fill against' : 'fill' });
      const width = Math.min(1, Math.abs(value) / (most || 1)) * (both ? 50 : 100);
      fill.style.width = `${width}%`;
      fill.style.left = both ? `${value < 0 ? 50 - width : 50}%` : '0';
      return make(
        'div',
        { class: mark ? 'bar marked' : 'bar' },
        make('span', { class: 'bar-name', dir: 'auto' }, name),
        make('span', { class: 'track' }, fill),
        make('span', { class: 'bar-value' }, text === undefined ? number(value) : text),
      );
    }),
  );
  return host;
}

// The colour of a number between -most and most.
function colour(value, most) {
  const t = Math.min(1, Math.abs(value) / (most || 1));
  return colourScale(value < 0 ? 'warm' : 'cool', currentTheme())[Math.round(t * 255)];
}
function paint(cell, value, most) {
  const rgb = colour(value, most);
  cell.style.backgroundColor = cssColour(rgb);
  cell.style.color = textColourOn(rgb);
}

// A vector as a row of coloured cells; its numbers are in the tooltips.
function strip(values, most) {
  const size = most || Math.max(1e-9, ...values.map(Math.abs));
  const row = make('span', { class: 'strip', role: 'img', 'aria-label': values.map((v) => number(v)).join(', ') });
  row.append(
    ...values.map((value) => {
      const cell = make('i', { title: number(value, 3) });
      cell.style.backgroundColor = cssColour(colour(value, size));
      return cell;
    }),
  );
  return row;
}

// A table of numbers, shaded: heat({ rows, columns, values, digits, most, mark(i, j), plain }).
function heat({ rows, columns, values, digits = 2, most = 1, mark, plain, caption }) {
  const body = values.map((line, i) =>
    make(
      'tr',
      {},
      make('th', { scope: 'row', dir: 'auto' }, rows[i]),
      ...line.map((value, j) => {
        const cell = make(
          'td',
          { class: mark && mark(i, j) ? 'marked' : '', title: `${rows[i]} · ${columns[j]}: ${number(value, 4)}` },
          plain ? '' : number(value, digits),
        );
        paint(cell, value, most);
        return cell;
      }),
    ),
  );
  return make(
    'div',
    { class: 'heat-scroll' },
    make(
      'table',
      { class: plain ? 'heat plain' : 'heat' },
      ...(caption ? [make('caption', {}, caption)] : []),
      make(
        'thead',
        {},
        make('tr', {}, make('td', {}), ...columns.map((name) => make('th', { scope: 'col', dir: 'auto' }, name))),
      ),
      make('tbody', {}, ...body),
    ),
  );
}

// Curves: chart({ series: [{ name, points: [[x, y]] }], x, y, top, at }); `at` is an x to point out.
function chart({ series, x, y, top, at, label }) {
  const width = 560,
    height = 250,
    left = 46,
    right = 14,
    above = 16,
    below = 40;
  const all = series.flatMap((one) => one.points);
  const xs = all.map((p) => p[0]);
  const low = Math.min(...xs),
    high = Math.max(...xs, low + 1e-9);
  const ceiling = top || Math.max(1e-9, ...all.map((p) => p[1]));
  const px = (v) => left + ((v - low) / (high - low)) * (width - left - right);
  const py = (v) => height - below - (Math.min(v, ceiling) / ceiling) * (height - above - below);
  const svg = shape('svg', {
    viewBox: `0 0 ${width} ${height}`,
    class: 'curves',
    role: 'img',
    'aria-label': label || y,
  });
  for (let i = 0; i <= 4; ++i) {
    const v = (ceiling * i) / 4;
    svg.append(
      shape('path', { class: 'grid', d: `M${left} ${py(v)}H${width - right}` }),
      shape(
        'text',
        { x: left - 7, y: py(v) + 4, 'text-anchor': 'end' },
        top === 1 ? share(v) : number(v, ceiling < 2 ? 2 : 1),
      ),
    );
  }
  const ticks = Math.min(7, Math.max(2, Math.round(high - low) + 1));
  for (let i = 0; i < ticks; ++i) {
    const v = low + Math.round(((high - low) * i) / (ticks - 1));
    svg.append(shape('text', { x: px(v), y: height - below + 17, 'text-anchor': 'middle' }, String(v)));
  }
  svg.append(
    shape('text', { x: (left + width - right) / 2, y: height - 5, 'text-anchor': 'middle', class: 'axis' }, x),
  );
  if (at !== undefined) svg.append(shape('path', { class: 'at', d: `M${px(at)} ${above}V${height - below}` }));
  series.forEach((one, i) => {
    svg.append(
      shape('path', {
        class: `curve c${i}`,
        d: one.points.map((p, n) => `${n ? 'L' : 'M'}${px(p[0]).toFixed(1)} ${py(p[1]).toFixed(1)}`).join(''),
      }),
    );
  });
  const key = make('p', { class: 'key' }, ...series.map((one, i) => make('span', { class: `c${i}` }, one.name)));
  return make('figure', { class: 'chart-box' }, make('figcaption', {}, y, series.length > 1 ? key : ''), svg);
}

// One of several: choice(name, [[value, text]], chosen, onchoose).
function choice(name, list, chosen, onchoose) {
  const group = make('span', { class: 'choice', role: 'group', 'aria-label': name });
  const show = (value) => {
    group.replaceChildren(
      ...list.map(([one, text]) =>
        make(
          'button',
          {
            type: 'button',
            'data-value': String(one),
            'aria-pressed': String(one === value),
            onclick: () => {
              show(one);
              onchoose(one);
              group.querySelector('[aria-pressed="true"]').focus();
            },
          },
          text,
        ),
      ),
    );
  };
  show(chosen);
  return make('div', { class: 'choose' }, make('span', { class: 'slider-name' }, name), group);
}

const box = (title, ...content) => make('section', { class: 'box' }, make('h4', {}, title), ...content);
// A formula; _x is a subscript.
const formula = (text) =>
  make(
    'p',
    { class: 'formula' },
    ...text.split(/(_[A-Za-z0-9ⱼₖ−]+)/).map((part) => (part[0] === '_' ? make('sub', {}, part.slice(1)) : part)),
  );

export { number, share, slider, bars, strip, heat, chart, choice, box, formula, colour };
