// The page of `fovea explain --html`: the steps of a worked example, drawn from the numbers of
// src/view/lesson/lesson_json.cpp.
import '../styles/base.css';
import '../styles/attention.css';
import '../styles/explain.css';
import { attentionView } from '../attention/attention_view.js';
import { messageText, paragraph, symbols } from '../lesson/messages.js';
import { operandDisplay } from '../lesson/operands.js';
import { stepPlayer } from '../lesson/step_player.js';
import { drawTable, paintCells } from '../lesson/tables.js';
import { make, readData } from '../lib/dom.js';
import { onLanguageChange } from '../lib/language.js';
import { addPageTools } from '../lib/page_tools.js';
import { onThemeChange } from '../lib/theme.js';

const lesson = readData('lesson');
const tables = lesson.steps.flatMap((step) => step.tables);
const steps = make('div');
const player = stepPlayer(() => [...steps.children], lesson.steps.length);
const display = operandDisplay();
const pictureTitle = make('h2');
const closing = make('p');
const picture = make('div');
const card = make('section', { class: 'card', hidden: !lesson.picture }, pictureTitle, closing, picture);

function drawStep(step, i) {
  const formula = messageText(step.formula);
  const title = make('span', {}, ...symbols(messageText(step.title)));
  return make(
    'section',
    { class: 'card step' },
    make('h2', {}, make('span', { class: 'number' }, String(i + 1)), title),
    make('p', {}, paragraph(step.text)),
    make('p', { class: 'formula', hidden: !formula }, ...symbols(formula)),
    make('div', { class: 'matrices' }, ...step.tables.map(drawTable)),
    ...step.worked.map((one) => make('p', { class: 'example' }, messageText(one))),
  );
}

function draw() {
  display.clear();
  steps.replaceChildren(...lesson.steps.map(drawStep));
  // Folded tables lack some operands; the sums of a trained model are written below them.
  if (!lesson.folded) display.connect(new Map(tables.filter((one) => one.id).map((one) => [one.id, one])));
  pictureTitle.textContent = messageText({ key: 'picture.title' });
  closing.textContent = paragraph(lesson.closing);
  player.show();
}

document.getElementById('page').replaceChildren(player.element, steps, card, display.element);
if (!lesson.picture) steps.after(closing);
onLanguageChange(draw);
onThemeChange(() => tables.forEach(paintCells));
addPageTools({
  title: () => messageText(lesson.title),
  lead: () => messageText(lesson.lead),
  language: lesson.language,
});
if (lesson.picture) attentionView(picture, [lesson.picture], { kind: lesson.self ? 'encoder' : undefined });
