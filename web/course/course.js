// The course: new Course(host, server, onshow) shows the lessons (lessons/index.js) in `host`.
//   server: live (false: the answers are recorded), trained (lessons whose models it has),
//           train(id, again, progress, signal) → facts, ask(id, question) → answer
//   onshow(id)   another lesson is shown
import { make } from '../lib/dom.js';
import { remember } from '../lib/storage.js';
import { onThemeChange } from '../lib/theme.js';
import { learnWords } from '../words/learn.js';
import { formula } from './draw.js';
import { lessons } from './lessons/index.js';
import { questionForm } from './question.js';
import { textField } from './text_field.js';
import { Trainer } from './trainer.js';

export class Course {
  #server;
  #onshow;
  #facts = {}; // of lessons whose models are trained
  #solved = new Set(remember('solved').split(' ').filter(Boolean));
  #at = 0;
  #trainer = null;
  #list = make('ol', { class: 'lesson-list' });
  #count = make('p', { class: 'aside solved-count' });
  #nav = make('nav', { class: 'course-nav' }, this.#list, this.#count);
  #article = make('article', { class: 'lesson card', tabindex: -1 });

  constructor(host, server, onshow = () => {}) {
    this.#server = server;
    this.#onshow = onshow;
    host.classList.add('course');
    host.replaceChildren(this.#nav, this.#article);
    onThemeChange(() => {
      const lesson = lessons[this.#at];
      if (!lesson.models || this.#facts[lesson.id]) this.#play(lesson, this.#article.querySelector('.play'));
    });
  }

  get id() {
    return lessons[this.#at].id;
  }

  // Shows a lesson, the first where there is none of this name.
  show(id) {
    const index = lessons.findIndex((one) => one.id === id);
    this.#go(Math.max(0, index));
  }

  // Writes everything in the current language.
  refresh() {
    if (this.#trainer) this.#trainer.abort();
    this.#drawContents();
    this.#drawLesson();
  }

  #go(index) {
    this.#at = index;
    this.refresh();
    this.#onshow(this.id);
  }

  #drawContents() {
    this.#nav.setAttribute('aria-label', learnWords.lessons);
    this.#list.replaceChildren(...lessons.map((lesson, i) => make('li', {}, this.#entry(lesson, i))));
    // Where the list is a row, the lesson that is shown stays in view.
    const current = this.#list.children[this.#at];
    this.#list.scrollLeft = current.offsetLeft - this.#list.offsetLeft - 16;
    const all = this.#solved.size === lessons.length;
    this.#count.textContent = all ? learnWords.all : learnWords.solved(this.#solved.size, lessons.length);
  }

  #entry(lesson, i) {
    const solved = this.#solved.has(lesson.id);
    const onclick = () => {
      this.#go(i);
      this.#article.focus({ preventScroll: true });
    };
    const number = make('span', { class: 'number' }, solved ? '✓' : String(i + 1));
    const done = solved ? [make('span', { class: 'visually-hidden' }, ` (${learnWords.done})`)] : [];
    const properties = { type: 'button', class: 'bare', 'aria-current': i === this.#at ? 'step' : false, onclick };
    return make('button', properties, number, make('span', {}, lesson.words.title), ...done);
  }

  #drawLesson() {
    const lesson = lessons[this.#at];
    const { words } = lesson;
    const play = make('div', { class: 'play' });
    this.#trainer = lesson.models ? this.#train(lesson, play) : null;
    const pager = make(
      'div',
      { class: 'pager' },
      this.#step(-1, `‹ ${learnWords.previous}`, 'previous'),
      this.#step(1, `${learnWords.next} ›`, 'next'),
    );
    this.#article.dataset.lesson = lesson.id;
    this.#article.setAttribute('aria-label', words.title);
    this.#article.replaceChildren(
      make('p', { class: 'aside' }, learnWords.of(this.#at + 1, lessons.length)),
      make('h2', {}, words.title),
      ...words.lead.map((text) => make('p', { class: 'lead-text' }, text)),
      ...(lesson.formula ? [formula(lesson.formula)] : []),
      make('h3', {}, learnWords.tryIt),
      ...(this.#trainer ? [this.#trainer.element] : []),
      play,
      questionForm(lesson, () => this.#solve(lesson)),
      pager,
    );
    if (!lesson.models) this.#play(lesson, play);
  }

  #step(by, text, name) {
    const to = this.#at + by;
    const onclick = () => {
      this.#go(to);
      this.#article.scrollIntoView({ block: 'start' });
      this.#article.focus({ preventScroll: true });
    };
    return make('button', { type: 'button', class: name, disabled: !lessons[to], onclick }, text);
  }

  #train(lesson, play) {
    const trainer = new Trainer(lesson, this.#server, {
      ready: (facts) => {
        this.#facts[lesson.id] = facts;
        trainer.done(facts);
        this.#play(lesson, play);
      },
      again: () => play.replaceChildren(),
    });
    const known = this.#facts[lesson.id];
    if (known) {
      trainer.done(known);
      this.#play(lesson, play);
    } else trainer.startIfKnown();
    return trainer;
  }

  #solve(lesson) {
    if (this.#solved.has(lesson.id)) return;
    this.#solved.add(lesson.id);
    remember('solved', [...this.#solved].join(' '));
    this.#drawContents();
  }

  // What the reader plays with.
  #play(lesson, play) {
    const trouble = make('p', { class: 'notice lesson-trouble', role: 'status', hidden: true });
    let asked = 0;
    // An answer that comes after a later question is not shown.
    const ask = async (question, then) => {
      const mine = ++asked;
      try {
        const answer = await this.#server.ask(lesson.id, question);
        if (mine !== asked) return;
        trouble.hidden = true;
        then(answer);
      } catch (error) {
        if (mine !== asked) return;
        trouble.textContent = learnWords.failed(error.text || error.message);
        trouble.hidden = false;
      }
    };
    const { live } = this.#server;
    const field = (name, value, examples, onchange) => textField({ name, value, examples, readOnly: !live, onchange });
    const drawing = lesson.draw({ w: lesson.words, facts: this.#facts[lesson.id], ask, field, live });
    play.replaceChildren(drawing, trouble);
  }
}
