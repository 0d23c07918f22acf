// Trains the models of a lesson on the server and shows how far it is.
import { make } from '../lib/dom.js';
import { learnWords } from '../words/learn.js';
import { chart } from './draw.js';

export class Trainer {
  #lesson;
  #server;
  #ready;
  #control = null; // of the training under way
  #button = make('button', { type: 'button', class: 'primary train', onclick: () => this.start(false) });
  #status = make('p', { class: 'aside train-status', role: 'status' });
  #curve = make('div', { class: 'train-curve' });
  element = make('div', { class: 'trainer' }, this.#button, this.#status, this.#curve);

  // ready(facts) receives what the server knows of the trained models; again() is called before they are trained
  // anew.
  constructor(lesson, server, { ready, again }) {
    this.#lesson = lesson;
    this.#server = server;
    this.#ready = ready;
    this.again = again;
    this.#button.textContent = learnWords.train;
    this.#status.textContent = learnWords.trainHint;
  }

  // Trains at once where that takes no time: recorded models, or those that the server has.
  startIfKnown() {
    if (!this.#server.live || this.#server.trained.has(this.#lesson.id)) this.start(false);
  }

  abort() {
    if (this.#control) this.#control.abort();
  }

  async start(again) {
    this.#button.disabled = true;
    this.#control = new AbortController();
    const { signal } = this.#control;
    const progress = this.#progress(signal);
    try {
      const facts = await this.#server.train(this.#lesson.id, again, progress, signal);
      if (!signal.aborted) this.#ready(facts);
    } catch (error) {
      if (signal.aborted) return;
      this.#button.disabled = false;
      this.#status.textContent = learnWords.failed(error.text || error.message);
    }
  }

  // The models are trained: how long it took, and a button to train them anew.
  done(facts) {
    const onclick = () => {
      this.element.replaceChildren(this.#button, this.#status, this.#curve);
      this.again();
      this.start(true);
    };
    const again = make('button', { type: 'button', class: 'small', onclick }, learnWords.trainAgain);
    const recorded = make('span', { class: 'recorded-note' }, learnWords.recorded);
    const rest = this.#server.live ? again : recorded;
    this.element.replaceChildren(make('p', { class: 'aside' }, learnWords.trained(facts.seconds), ' ', rest));
  }

  #progress(signal) {
    const points = [];
    let model = '';
    return (now) => {
      if (signal.aborted || !now) return;
      if (now.lesson !== this.#lesson.id) {
        this.#status.textContent = learnWords.waiting;
        return;
      }
      if (now.model !== model) points.length = 0;
      model = now.model;
      points.push([now.step, now.loss]);
      this.#status.textContent = learnWords.training(model, now.step, now.steps);
      if (points.length < 2) return;
      const { steps: x, loss: y } = learnWords;
      this.#curve.replaceChildren(chart({ series: [{ name: model, points: [...points] }], x, y, label: y }));
    };
  }
}
