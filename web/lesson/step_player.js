// Shows the steps of a worked example all at once or one at a time: stepPlayer(sections, count) is { element, show()
// }. sections() gives the elements of the steps.
import { make } from '../lib/dom.js';
import { stepsWords } from '../words/steps.js';

const PACE = 4000; // ms

export function stepPlayer(sections, count) {
  const last = count - 1;
  let at = -1; // all of them
  let timer = 0;
  const button = (name, onclick) => make('button', { type: 'button', class: 'small ' + name, onclick });
  const back = button('back', () => turnTo(Math.max(0, at - 1)));
  const forward = button('on', () => turnTo(at + 1));
  const whole = button('whole', () => turnTo(-1));
  const play = button('play', () => (timer ? stop() : start()));
  const position = make('output', { class: 'where' });
  const element = make('nav', { class: 'player', hidden: last < 1 }, back, play, forward, position, whole);

  function label() {
    back.textContent = '‹';
    forward.textContent = '›';
    back.setAttribute('aria-label', stepsWords.stepBack);
    forward.setAttribute('aria-label', stepsWords.stepOn);
    play.textContent = timer ? stepsWords.pause : stepsWords.play;
    whole.textContent = stepsWords.allSteps;
    position.textContent = at < 0 ? '' : stepsWords.stepOf(at + 1, count);
    back.disabled = at <= 0;
    forward.disabled = at === last;
    whole.disabled = at < 0;
  }
  function show() {
    sections().forEach((section, i) => {
      section.hidden = at >= 0 && i !== at;
    });
    label();
  }
  function go(step) {
    at = Math.max(-1, Math.min(last, step));
    show();
    if (at >= 0) element.scrollIntoView({ block: 'nearest' });
  }
  function start() {
    if (at < 0 || at === last) go(0);
    timer = setInterval(() => (at < last ? go(at + 1) : stop()), PACE);
    label();
  }
  function stop() {
    clearInterval(timer);
    timer = 0;
    label();
  }
  function turnTo(step) {
    stop();
    go(step);
  }
  document.addEventListener('keydown', (event) => {
    if (last < 1 || event.target.closest('td, input, select, textarea, .attention')) return;
    if (event.key === 'ArrowRight') forward.click();
    else if (event.key === 'ArrowLeft') back.click();
    else if (event.key === ' ' && event.target === document.body) {
      event.preventDefault();
      play.click();
    }
  });
  return { element, show };
}
