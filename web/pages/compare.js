// The page of `fovea compare --html`: one sentence in several models or under several scores, side by side; or a
// slider over the checkpoints of a training and one checkpoint to compare with. Choosing or pointing in one picture
// does so in all.
import '../styles/base.css';
import '../styles/attention.css';
import '../styles/training.css';
import '../styles/compare.css';
import { attentionView } from '../attention/attention_view.js';
import { headMaps } from '../attention/weights.js';
import { make, readData } from '../lib/dom.js';
import { onLanguageChange } from '../lib/language.js';
import { addPageTools } from '../lib/page_tools.js';
import { checkpointSlider } from '../views/checkpoint_slider.js';
import { compareWords } from '../words/compare.js';
import { pageWords } from '../words/page.js';
import { stepsWords } from '../words/steps.js';

const { kind, sentence, entries } = readData('compared');
const checkpoints = kind === 'checkpoints';
const pictures = readData('pictures');
const host = document.getElementById('page');
const panes = [];
let forwarding = false; // so that the others do not forward what they receive

const toOthers = (own, update) => {
  if (forwarding) return;
  forwarding = true;
  for (const pane of panes) if (pane !== own) update(pane);
  forwarding = false;
};
const same = (a, b, side) => a[side].join('\n') === b[side].join('\n');

function addPane(index, aside) {
  const title = make('h2', { dir: 'auto' });
  const says = make('p', { class: 'compared-says', dir: 'auto' });
  const place = make('div');
  const pane = { index, title, says };
  host.append(
    make(
      'section',
      { class: 'card compared' },
      make('div', { class: 'compared-head' }, title, aside || ''),
      says,
      place,
    ),
  );
  pane.view = attentionView(place, [pictures[index]], {
    fileName: 'attention-' + (index + 1),
    onshow: ({ kind, layer, head, colour }) => toOthers(pane, ({ view }) => view.choose({ kind, layer, head, colour })),
    onlight: (active) =>
      toOthers(pane, ({ view }) => {
        // Tokens at the same position are the same only if both models split the text into the same tokens.
        const sides = !active ? [] : active.side ? [active.side] : ['source', 'target'];
        view.activate(active && sides.every((side) => same(view.picture, pane.view.picture, side)) ? active : null);
      }),
  });
  panes.push(pane);
  return pane;
}
function write(pane) {
  const { name, step, writes, shown, log_probability: log } = entries[pane.index];
  pane.title.textContent = checkpoints ? (step === null ? stepsWords.trained : stepsWords.atStep(step)) : name;
  pane.says.hidden = log === null;
  if (log === null) return;
  pane.says.replaceChildren(
    make('b', {}, shown),
    ` · ${pageWords.logProbability(log.toFixed(3))}`,
    ...(writes === shown ? [] : [` · ${compareWords.writes(writes)}`]),
  );
}
function put(pane, index) {
  pane.index = index;
  write(pane);
  pane.view.set([pictures[index]]);
}

host.classList.add('compare');
host.classList.toggle(
  'small',
  !checkpoints && pictures.length > 2 && Math.max(...pictures.map((one) => headMaps(one).length)) < 2,
);
let name = () => {};
if (checkpoints) {
  const last = entries.length - 1;
  const steps = entries.filter((one) => one.step !== null).map((one) => one.step);
  let moving = null; // the pane that follows the slider
  const slider = checkpointSlider({
    onstep(step) {
      put(moving, step === null ? last : steps.indexOf(step));
      slider.say(stepsWords.trainingHint);
    },
  });
  host.append(slider.element);
  slider.set(steps);
  moving = addPane(0);
  const other = make('select', { onchange: () => put(still, other.selectedIndex) });
  const label = make('span');
  const still = addPane(last, make('label', {}, label, other));
  name = () => {
    label.textContent = compareWords.comparedWith;
    const at = still.index;
    other.replaceChildren(
      ...entries.map((one) => make('option', {}, one.step === null ? stepsWords.trained : stepsWords.atStep(one.step))),
    );
    other.selectedIndex = at;
  };
  slider.go(0);
} else {
  pictures.forEach((_, i) => addPane(i));
}
onLanguageChange(() => {
  name();
  panes.forEach(write);
});
addPageTools({ title: () => compareWords.titles[kind], lead: () => `“${sentence}”` });
