// The page of `fovea view --html`: its sentences, with a permanent link to what is shown.
import '../styles/base.css';
import '../styles/attention.css';
import { attentionView } from '../attention/attention_view.js';
import { make, readData } from '../lib/dom.js';
import { addPageTools } from '../lib/page_tools.js';
import { attentionWords } from '../words/attention.js';

const pictures = readData('pictures');
addPageTools({ lead: () => (pictures.length === 1 ? attentionWords.leadOne : attentionWords.lead(pictures.length)) });
const link = () => {
  const parts = new URLSearchParams(location.hash.slice(1));
  return { at: (Number(parts.get('line')) || 1) - 1, layer: parts.get('layer') || '', head: parts.get('head') || '' };
};
const element = make('div', { class: 'card' });
document.getElementById('page').append(element);
const wanted = link();
const view = attentionView(element, pictures, {
  onshow: (state) => {
    const parts = new URLSearchParams({ line: state.at + 1 });
    if (state.layer !== '') parts.set('layer', state.layer);
    if (state.head !== '') parts.set('head', state.head);
    if (location.hash.slice(1) !== parts.toString()) history.replaceState(null, '', '#' + parts);
  },
});
const follow = (to) => {
  Object.assign(view.state, { layer: to.layer, head: to.head });
  view.show(Math.max(0, Math.min(pictures.length - 1, to.at)));
};
follow(wanted);
window.addEventListener('hashchange', () => follow(link()));
