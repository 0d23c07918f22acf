// The text and its translation, whose tokens light up with those of the attention view. The view shows the whole
// text or one of `parts()`, whose tokens are counted from its offset.
import { attentionShares } from '../../attention/weights.js';
import { litText } from '../../views/lit_text.js';

const NONE = { source: 0, target: 0 };

export class LitSides {
  #view = null;
  #parts;

  constructor(text, parts) {
    this.source = litText(document.getElementById('mirror'));
    this.target = litText(document.getElementById('output'));
    this.#parts = parts;
    this.#watch(text, this.source, 'source');
    const output = document.getElementById('output');
    this.#watch(output, this.target, 'target');
    output.addEventListener('click', (event) => this.#click(event));
  }

  // The attention view that is lit by pointing at the texts.
  connect(view) {
    this.#view = view;
  }

  light(active, weights) {
    const shares = attentionShares(weights, active);
    const from = (active && this.#view.picture.offset) || NONE;
    const row = active ? (active.side === 'target' ? active.i : active.t) : -1;
    this.source.light(shares.source, active && active.side === 'source' ? active.i : -1, from.source);
    this.target.light(shares.target, row, from.target);
  }

  #watch(element, lit, side) {
    element.addEventListener('pointermove', (event) => {
      if (event.pointerType !== 'touch') this.#view.activate(this.#tokenAt(event, lit, side));
    });
    element.addEventListener('pointerleave', () => this.#view.activate(null));
  }

  #click(event) {
    const i = this.target.at(event);
    if (i < 0 || !getSelection().isCollapsed) return;
    if (!this.#tokenAt(event, this.target, 'target')) {
      const parts = this.#parts();
      this.#view.show(parts.findIndex((one) => i < one.offset.target + one.target.length));
    }
    this.#view.pin(this.#tokenAt(event, this.target, 'target'));
  }

  // The token under the pointer as the shown part counts it; null where there is none or it is in another part.
  #tokenAt(event, lit, side) {
    const parts = this.#parts();
    const from = ((this.#view.picture || {}).offset || NONE)[side];
    const i = lit.at(event) - from;
    return i >= 0 && (!parts || i < parts[this.#view.state.at][side].length) ? { side, i } : null;
  }
}
