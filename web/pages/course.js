// The page of `fovea learn --html`: the course without a server; the answers of the models are in the page.
import '../styles/base.css';
import '../styles/learn.css';
import { Course } from '../course/course.js';
import { readData } from '../lib/dom.js';
import { onLanguageChange } from '../lib/language.js';
import { addPageTools } from '../lib/page_tools.js';
import { learnWords } from '../words/learn.js';

const recorded = readData('recorded');
const key = (question) => JSON.stringify(Object.entries(question).sort(([a], [b]) => (a < b ? -1 : 1)));
const server = {
  live: false,
  train: async (id) => recorded[id].facts,
  async ask(id, question) {
    const found = recorded[id].answers.find((one) => key(one.question) === key(question));
    if (!found) throw new Error(learnWords.recorded);
    return found.answer;
  },
};
const course = new Course(document.getElementById('page'), server, (id) => {
  if (location.hash !== `#lesson=${id}`) history.replaceState(null, '', `#lesson=${id}`);
});
const wanted = () => new URLSearchParams(location.hash.slice(1)).get('lesson');
onLanguageChange(() => course.refresh());
window.addEventListener('hashchange', () => course.show(wanted()));
course.show(wanted());
addPageTools({ lead: () => learnWords.lead });
