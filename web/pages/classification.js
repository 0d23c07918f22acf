// The page of `fovea view --html` for a classifier's lines: each text with its labels, shaded by what decided.
import '../styles/base.css';
import '../styles/classify.css';
import { make, readData } from '../lib/dom.js';
import { onLanguageChange } from '../lib/language.js';
import { addPageTools } from '../lib/page_tools.js';
import { decisionRows, labelBars } from '../views/classification.js';
import { classifyWords } from '../words/classify.js';

const host = document.getElementById('page');
const pictures = readData('pictures');
onLanguageChange(() =>
  host.replaceChildren(
    ...pictures.map((picture, number) => {
      const labels = picture.labels || [];
      const record = {
        tokens: picture.source,
        attention: (picture.weights || [])[0] || [],
        saliency: Object.fromEntries(labels.filter((one) => one.saliency).map((one) => [one.label, one.saliency])),
      };
      const bars = make('div', { class: 'labels', role: 'group', 'aria-label': classifyWords.labels });
      const rows = make('div', {});
      const show = (label) => {
        bars.replaceChildren(...labelBars(labels, label, show));
        rows.replaceChildren(...decisionRows(record, label));
      };
      if (labels.length) show(labels[0].label);
      return make(
        'section',
        { class: 'card text-card' },
        make('h2', {}, `${number + 1}`),
        make('div', { class: 'text-columns' }, rows, bars),
      );
    }),
  ),
);
addPageTools({ lead: () => (pictures.length === 1 ? classifyWords.leadOne : classifyWords.lead(pictures.length)) });
