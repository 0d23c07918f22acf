// The page of `fovea view --html` for pictures.
import '../styles/base.css';
import '../styles/picture.css';
import { make, readData } from '../lib/dom.js';
import { onLanguageChange } from '../lib/language.js';
import { addPageTools } from '../lib/page_tools.js';
import { pictureWords } from '../words/picture.js';
import { pictureView } from '../views/picture.js';

const addresses = readData('addresses');
const pictures = readData('pictures');
onLanguageChange(() =>
  document
    .getElementById('page')
    .replaceChildren(...pictures.map((record, i) => make('div', { class: 'card' }, pictureView(record, addresses[i])))),
);
addPageTools({ lead: () => pictureWords.lead });
