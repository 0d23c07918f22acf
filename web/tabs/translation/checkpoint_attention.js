// What the model attended to earlier in its training, when it is given its final translation. show(picture) draws the
// attention, trouble(kind, error) reports a failure.
import { api } from '../../server/api.js';
import { checkpointSlider } from '../../views/checkpoint_slider.js';
import { stepsWords } from '../../words/steps.js';

export class CheckpointAttention {
  #answers = new Map(); // by step and request
  #control = null; // of the request that was sent
  #latest = null; // { picture, outputs, fields } of the trained model
  #show;
  #trouble;

  constructor({ show, trouble }) {
    this.#show = show;
    this.#trouble = trouble;
    this.slider = checkpointSlider({ onstep: (step) => this.#go(step), busy: () => Boolean(this.#control) });
  }

  // The attention of the trained model, or null, and the steps of its checkpoints.
  set(latest, steps) {
    this.#answers.clear();
    this.#latest = latest;
    this.slider.set(steps);
  }

  async #go(step) {
    if (this.#control) this.#control.abort();
    this.#control = null;
    if (!this.#latest) return;
    if (step === null) {
      this.#show(this.#latest.picture);
      return;
    }
    const answer = await this.#answerOf(step);
    if (!answer || this.slider.step !== step) return;
    this.#show(answer.given.picture);
    const { translatedText } = answer.own;
    this.slider.say(stepsWords.stepWrites(translatedText, answer.given.log_probability.toFixed(2)));
  }

  // The attention of a checkpoint for the final translation, and its own translation; null: it failed.
  async #answerOf(step) {
    const { fields, outputs } = this.#latest;
    const key = JSON.stringify([step, fields]);
    if (this.#answers.has(key)) return this.#answers.get(key);
    const control = new AbortController();
    this.#control = control;
    try {
      const ask = (more) => api.attention({ ...fields, checkpoint: step, ...more }, control.signal);
      const [given, own] = await Promise.all([
        ask({ kind: 'all', output: outputs }),
        ask({ kind: 'cross', interventions: [] }),
      ]);
      this.#answers.set(key, { given, own });
      return { given, own };
    } catch (error) {
      if (error.name !== 'AbortError') this.#trouble(error.kind || 'heads', error);
      return null;
    } finally {
      if (this.#control === control) this.#control = null;
    }
  }
}
