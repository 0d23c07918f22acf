// The report of a training: its figures, charts, sample outputs with their attention, and settings.
import '../styles/base.css';
import '../styles/attention.css';
import '../styles/chart.css';
import '../styles/report.css';
import { attentionView } from '../attention/attention_view.js';
import { make, readData } from '../lib/dom.js';
import { onLanguageChange } from '../lib/language.js';
import { addPageTools } from '../lib/page_tools.js';
import { lineChart } from '../views/line_chart.js';
import { reportWords } from '../words/report.js';

const report = readData('report');
const pictures = readData('pictures');
const percent = (value) => `${value.toFixed(2)}%`;
const formats = {
  bleu: (value) => value.toFixed(2),
  accuracy: percent,
  exact_match: percent,
  valid_loss: (value) => value.toFixed(2),
  minutes: (value) => value.toFixed(1),
};

function lead() {
  const { encoder, decoder, pooling, labels, weights } = report;
  const head = decoder ? reportWords.decoder(decoder) : reportWords.classifier(pooling, labels);
  return reportWords.lead(encoder, head, (weights / 1e6).toFixed(2));
}

function drawFigure({ name, value }) {
  const text = (formats[name] || Math.round)(value);
  return make('div', {}, make('dt', {}, reportWords.figures[name]), make('dd', {}, String(text)));
}

function drawChart({ name, series, from_zero: fromZero }) {
  const title = reportWords.charts[name];
  const named = series.map(({ name: key, points }) => ({ name: reportWords.series[key], points }));
  const label = reportWords.chart(title, named.map((one) => one.name).join(', '));
  return make('div', { class: 'card' }, lineChart({ title, label, xLabel: reportWords.step, series: named, fromZero }));
}

function drawSample({ source, output, reference, picture }) {
  const line = (properties, ...content) => make('p', { dir: 'auto', ...properties }, ...content);
  const lines = [line({}, source), line({ class: 'output' }, output)];
  if (reference === output) lines.push(line({ class: 'note' }, reportWords.asReference));
  else if (reference) lines.push(line({ class: 'note' }, reportWords.reference, ' ', reference));
  const item = make('li', {}, make('div', {}, ...lines));
  if (picture === undefined) return item;
  const show = () => {
    view.show(picture);
    place.scrollIntoView({ behavior: 'smooth', block: 'center' });
  };
  item.append(make('button', { type: 'button', 'data-picture': picture, onclick: show }, reportWords.attention));
  return item;
}

const tiles = make('dl', { class: 'tiles', hidden: !report.figures.length });
const charts = make('section', { class: 'charts', hidden: !report.charts.length });
const samplesTitle = make('h2');
const samples = make('ol', { class: 'samples' });
const attendedTitle = make('h2');
const place = make('div', { id: 'attention' });
const settingsTitle = make('h2');
const settingLines = report.settings.map(([name, value]) =>
  make('tr', {}, make('th', { scope: 'row' }, name), make('td', {}, value)),
);
const card = (shown, ...content) => make('section', { class: 'card', hidden: !shown }, ...content);

function draw() {
  tiles.replaceChildren(...report.figures.map(drawFigure));
  charts.replaceChildren(...report.charts.map(drawChart));
  samplesTitle.textContent = reportWords.samples;
  samples.replaceChildren(...report.samples.map(drawSample));
  attendedTitle.textContent = reportWords.attended;
  settingsTitle.textContent = reportWords.settings;
}

document
  .getElementById('page')
  .replaceChildren(
    tiles,
    charts,
    card(report.samples.length, samplesTitle, samples),
    card(pictures.length, attendedTitle, place),
    card(report.settings.length, settingsTitle, make('table', { class: 'settings' }, ...settingLines)),
  );
onLanguageChange(draw);
addPageTools({ title: () => report.title, lead });
const view = pictures.length ? attentionView(place, pictures) : null;
