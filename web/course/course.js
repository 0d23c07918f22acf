// The course: createCourse(host, server, onshow) shows the lessons (lessons/index.js) in `host`.
//   server: live (false: the answers are recorded), train(id, again, progress, signal) → facts, ask(id, question) →
//   answer
//   onshow(id)   another lesson is shown
import { make } from '../lib/dom.js';
import { remember } from '../lib/storage.js';
import { onThemeChange } from '../lib/theme.js';
import { learnWords } from '../words/learn.js';
import * as draw from './draw.js';
import { lessons } from './lessons/index.js';

export function createCourse(host, server, onshow = () => {}) {
  const facts = {}; // of lessons whose models are trained
  const solved = new Set(remember('solved').split(' ').filter(Boolean));
  let at = 0;
  const list = make('ol', { class: 'lesson-list' });
  const count = make('p', { class: 'aside solved-count' });
  const nav = make('nav', { class: 'course-nav' }, list, count);
  const article = make('article', { class: 'lesson card', tabindex: -1 });
  host.classList.add('course');
  host.replaceChildren(nav, article);

  const lesson = () => lessons[at];

  function contents() {
    const w = learnWords;
    nav.setAttribute('aria-label', w.lessons);
    list.replaceChildren(
      ...lessons.map((one, i) =>
        make(
          'li',
          {},
          make(
            'button',
            {
              type: 'button',
              class: 'bare',
              'aria-current': i === at ? 'step' : false,
              onclick: () => {
                show(i);
                article.focus({ preventScroll: true });
              },
            },
            make('span', { class: 'number' }, solved.has(one.id) ? '✓' : String(i + 1)),
            make('span', {}, one.words.title),
            ...(solved.has(one.id) ? [make('span', { class: 'visually-hidden' }, ` (${w.done})`)] : []),
          ),
        ),
      ),
    );
    // Where the list is a row, the lesson that is shown stays in view.
    const current = list.children[at];
    list.scrollLeft = current.offsetLeft - list.offsetLeft - 16;
    count.textContent = solved.size === lessons.length ? w.all : w.solved(solved.size, lessons.length);
  }

  // --- the models ------------------------------------------------------------------------------------------------
  let control = null; // of the training under way
  function trainer(one, play) {
    const w = learnWords;
    const button = make('button', { type: 'button', class: 'primary train' }, w.train);
    const status = make('p', { class: 'aside train-status', role: 'status' }, w.trainHint);
    const curve = make('div', { class: 'train-curve' });
    const panel = make('div', { class: 'trainer' }, button, status, curve);
    async function start(again) {
      button.disabled = true;
      const points = [];
      let model = '';
      control = new AbortController();
      const signal = control.signal;
      try {
        facts[one.id] = await server.train(
          one.id,
          again,
          (now) => {
            if (signal.aborted) return;
            if (!now || now.lesson !== one.id) {
              if (now) status.textContent = w.waiting;
              return;
            }
            if (now.model !== model) {
              points.length = 0;
              model = now.model;
            }
            points.push([now.step, now.loss]);
            status.textContent = w.training(now.model, now.step, now.steps);
            if (points.length > 1)
              curve.replaceChildren(
                draw.chart({ series: [{ name: model, points: [...points] }], x: w.steps, y: w.loss, label: w.loss }),
              );
          },
          signal,
        );
        if (!signal.aborted) ready();
      } catch (error) {
        if (signal.aborted) return;
        button.disabled = false;
        status.textContent = w.failed(error.text || error.message);
      }
    }
    function ready() {
      const again = make(
        'button',
        {
          type: 'button',
          class: 'small',
          onclick: () => {
            panel.replaceChildren(button, status, curve);
            play.replaceChildren();
            start(true);
          },
        },
        w.trainAgain,
      );
      panel.replaceChildren(
        make(
          'p',
          { class: 'aside' },
          w.trained(facts[one.id].seconds),
          ' ',
          ...(server.live ? [again] : [make('span', { class: 'recorded-note' }, w.recorded)]),
        ),
      );
      playOn(one, play);
    }
    button.addEventListener('click', () => start(false));
    if (facts[one.id]) ready();
    else if (!server.live || server.trained.has(one.id)) start(false);
    return panel;
  }

  // --- something to try ------------------------------------------------------------------------------------------
  function playOn(one, play) {
    const trouble = make('p', { class: 'notice lesson-trouble', role: 'status', hidden: true });
    let asked = 0;
    // An answer that comes after a later question is not shown.
    const ask = async (question, then) => {
      const mine = ++asked;
      try {
        const answer = await server.ask(one.id, question);
        if (mine !== asked) return;
        trouble.hidden = true;
        then(answer);
      } catch (error) {
        if (mine !== asked) return;
        trouble.textContent = learnWords.failed(error.text || error.message);
        trouble.hidden = false;
      }
    };
    play.replaceChildren(one.draw({ w: one.words, facts: facts[one.id], ask, field, live: server.live }), trouble);
  }
  // A text to change, or without a server one of those that were recorded: { element, value, set }.
  function field(name, value, examples, onchange) {
    const w = learnWords;
    const input = make('input', {
      type: 'text',
      class: 'text',
      'aria-label': name,
      spellcheck: 'false',
      autocapitalize: 'off',
      maxlength: 60,
    });
    input.value = value;
    let timer = 0;
    input.addEventListener('input', (event) => {
      clearTimeout(timer);
      if (!event.isComposing && input.value.trim()) timer = setTimeout(() => onchange(input.value), 120);
    });
    input.readOnly = !server.live;
    const set = (text) => {
      input.value = text;
      onchange(text);
    };
    const chips = examples.map((text) =>
      make('button', { type: 'button', class: 'example', onclick: () => set(text) }, text),
    );
    return {
      element: make(
        'div',
        { class: 'field' },
        make('label', {}, make('span', { class: 'slider-name' }, name), input),
        ...(chips.length > 1 ? [make('p', { class: 'chips', role: 'group', 'aria-label': w.examples }, ...chips)] : []),
      ),
      get value() {
        return input.value;
      },
      set(text) {
        input.value = text;
      },
    };
  }

  // --- the question ----------------------------------------------------------------------------------------------
  function question(one) {
    const w = learnWords;
    const { question: q } = one.words;
    const verdict = make('p', { class: 'verdict', role: 'status' });
    const form = make('form', { class: 'question' }, make('h3', {}, w.question), make('p', {}, q.ask));
    let given = () => null;
    if (q.choices) {
      const boxes = q.choices.map((text, i) =>
        make(
          'label',
          { class: 'option' },
          make('input', { type: 'radio', name: `answer-${one.id}`, value: i }),
          make('span', {}, text),
        ),
      );
      form.append(make('div', { class: 'options', role: 'radiogroup', 'aria-label': q.ask }, ...boxes));
      given = () => {
        const chosen = form.querySelector('input:checked');
        return chosen && Number(chosen.value) === q.right;
      };
    } else {
      const input = make('input', {
        type: 'text',
        inputmode: 'decimal',
        class: 'text short',
        'aria-label': w.answer,
        placeholder: w.number,
        autocomplete: 'off',
      });
      form.append(make('p', {}, input));
      given = () =>
        input.value.trim() === ''
          ? null
          : Math.abs(Number(input.value.replace('−', '-').replace(',', '.')) - q.number) <= (q.within || 0.005);
    }
    form.append(make('button', { type: 'submit', class: 'primary' }, w.check), verdict);
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      const right = given();
      if (right === null) return;
      verdict.className = right ? 'verdict right' : 'verdict wrong';
      verdict.textContent = right ? `${w.right} ${q.because}` : `${w.wrong} ${q.hint}`;
      if (right && !solved.has(one.id)) {
        solved.add(one.id);
        remember('solved', [...solved].join(' '));
        contents();
      }
    });
    return form;
  }

  // --- a lesson --------------------------------------------------------------------------------------------------
  function show(index) {
    if (control) control.abort();
    control = null;
    at = Math.max(0, Math.min(lessons.length - 1, index));
    contents();
    render();
    onshow(lesson().id);
  }
  function render() {
    const w = learnWords;
    const one = lesson();
    const mine = one.words;
    const play = make('div', { class: 'play' });
    const step = (to, text, cls) =>
      make(
        'button',
        {
          type: 'button',
          class: cls,
          disabled: !lessons[to],
          onclick: () => {
            show(to);
            article.scrollIntoView({ block: 'start' });
            article.focus({ preventScroll: true });
          },
        },
        text,
      );
    article.dataset.lesson = one.id;
    article.setAttribute('aria-label', mine.title);
    const back = step(at - 1, `‹ ${w.previous}`, 'previous');
    const on = step(at + 1, `${w.next} ›`, 'next');
    article.replaceChildren(
      make('p', { class: 'aside' }, w.of(at + 1, lessons.length)),
      make('h2', {}, mine.title),
      ...mine.lead.map((text) => make('p', { class: 'lead-text' }, text)),
      ...(one.formula ? [draw.formula(one.formula)] : []),
      make('h3', {}, w.tryIt),
      ...(one.models ? [trainer(one, play)] : []),
      play,
      question(one),
      make('div', { class: 'pager' }, back, on),
    );
    if (!one.models) playOn(one, play);
  }
  onThemeChange(() => {
    const one = lesson();
    if (!one.models || facts[one.id]) playOn(one, article.querySelector('.play'));
  });
  return {
    show: (id) =>
      show(
        Math.max(
          0,
          lessons.findIndex((one) => one.id === id),
        ),
      ),
    refresh: () => {
      if (control) control.abort();
      contents();
      render();
    },
    get id() {
      return lesson().id;
    },
  };
}
