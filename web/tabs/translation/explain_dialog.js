// The worked example of the shown sentence in a dialog: explainDialog() returns open(fields), which posts the fields
// to /explain.
import { sentenceAt } from '../../attention/parts.js';
import { make } from '../../lib/dom.js';
import { translateWords } from '../../words/translate.js';

// The fields of a request that name what is selected in the attention view. Positions are counted within a sentence.
export function selectionFields({ picture, state }, pinned, inParts) {
  const fields = {};
  if (state.layer !== '') fields.layer = Number(state.layer);
  if (state.head !== '') fields.head = Number(state.head);
  if (!pinned || !picture) return inParts ? { ...fields, sentence: picture.line } : fields;
  const query = pinned.t !== undefined ? pinned.t : pinned.side === 'target' ? pinned.i : undefined;
  const [axis, position] = query !== undefined ? ['target', query] : ['source', pinned.i];
  const at = sentenceAt(picture, axis, position);
  fields.sentence = at.line;
  if (pinned.t === undefined) return fields;
  const keys = sentenceAt(picture, 'source', pinned.s);
  return keys.line === at.line ? { ...fields, query: pinned.t - at.from, key: pinned.s - keys.from } : fields;
}

export function explainDialog() {
  const frame = make('iframe', { class: 'explain-sheet', name: 'explain-sheet', sandbox: 'allow-scripts' });
  const close = make('button', { type: 'button', class: 'small shut', onclick: () => dialog.close() });
  const dialog = make('dialog', { class: 'explain-dialog' }, close, frame);
  document.body.append(dialog);
  return {
    open(fields) {
      close.textContent = translateWords.close;
      frame.title = translateWords.explainHint;
      // A form, so that the answer is a document with a content security policy of its own.
      const inputs = Object.entries(fields).map(([name, value]) =>
        make('input', { type: 'hidden', name, value: String(value) }),
      );
      const target = { method: 'post', action: 'explain', target: 'explain-sheet', hidden: '' };
      const form = make('form', target, ...inputs);
      document.body.append(form);
      form.submit();
      form.remove();
      dialog.showModal();
    },
  };
}
