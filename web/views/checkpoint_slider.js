// The training of a model as a slider over its checkpoints, with the trained model at the right end.
// checkpointSlider({ onstep, busy }) calls onstep(step), with null for the trained model, and pauses while busy().
// It returns element, step, set(steps), reset(), go(index) and say(text), which shows what the model of the step
// writes.
import { make } from '../lib/dom.js';
import { stepsWords } from '../words/steps.js';
import { onLanguageChange } from '../lib/language.js';

const PACE = 700; // milliseconds between two steps while it plays

export function checkpointSlider(owner) {
  const name = make('span', { class: 'training-name', 'data-word': 'steps.training' });
  const play = make('button', { type: 'button', class: 'small', onclick: () => (timer ? stop() : start()) });
  const slider = make('input', {
    type: 'range',
    id: 'checkpoint',
    min: 0,
    step: 1,
    oninput: () => {
      stop();
      moved();
    },
  });
  const label = make('label', { class: 'training-slide', for: 'checkpoint' }, name, slider);
  const said = make('output', { class: 'aside', for: 'checkpoint' });
  const writes = make('p', { class: 'aside training-writes', 'aria-live': 'polite' });
  const element = make('div', { class: 'training', hidden: true }, play, label, said, writes);
  let steps = [];
  let timer = 0;
  let step = null;

  const last = () => Number(slider.value) === steps.length;
  function words() {
    const w = stepsWords;
    name.textContent = w.training;
    play.textContent = timer ? w.pause : w.play;
    const text = last() ? w.trained : w.atStep(steps[Number(slider.value)]);
    said.textContent = text;
    slider.setAttribute('aria-valuetext', text);
    if (last()) writes.textContent = w.trainingHint;
  }
  function moved() {
    step = last() ? null : steps[Number(slider.value)];
    if (!last()) writes.textContent = '…';
    words();
    owner.onstep(step);
  }
  function stop() {
    clearInterval(timer);
    timer = 0;
    words();
  }
  function start() {
    if (last()) {
      slider.value = 0;
      moved();
    }
    timer = setInterval(() => {
      if (owner.busy && owner.busy()) return; // each step is seen
      slider.value = Number(slider.value) + 1;
      moved();
      if (last()) stop();
    }, PACE);
    words();
  }
  onLanguageChange(() => {
    if (steps.length) words();
  });
  return {
    element,
    get step() {
      return step;
    },
    set(list) {
      element.hidden = !list.length;
      if (list.join() === steps.join()) return;
      steps = list;
      slider.max = steps.length;
      this.reset();
    },
    reset() {
      step = null;
      slider.value = steps.length;
      stop();
    },
    go(place) {
      slider.value = place;
      moved();
    },
    say(text) {
      writes.textContent = text;
    },
  };
}
