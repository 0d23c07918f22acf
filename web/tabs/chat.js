// Conversations: the turns, a field for the next one, and below what the chosen reply attended to, by turn and word.
// Its address is task=chat&text=THE TURNS, a line each&model=NAME.
import { attentionView } from '../attention/attention_view.js';
import { formatPercent } from '../attention/weights.js';
import { make } from '../lib/dom.js';
import { api } from '../server/api.js';
import { chatWords } from '../words/chat.js';
import { showExamples } from './examples.js';
import { modelTab } from './model_tab.js';

function create(page) {
  let turns = []; // the reader's and the model's, alternating
  let replies = new Map(); // the server's answers, by turn
  let shown = -1; // the turn whose attention is shown
  const talk = make('div', { class: 'talk', role: 'log', 'data-word-label': 'chat.conversation' });
  const clear = make('button', { type: 'button', class: 'quiet', 'data-word': 'chat.newTalk', hidden: true });
  const field = make('input', {
    id: 'chat-text',
    type: 'text',
    autocomplete: 'off',
    dir: 'auto',
    'data-word-placeholder': 'chat.say',
  });
  const send = make('button', { type: 'submit', 'data-word': 'chat.send' });
  const examples = make('div', { class: 'examples' });
  const label = make('label', { class: 'visually-hidden', for: 'chat-text', 'data-word': 'chat.say' });
  const form = make('form', { class: 'say' }, label, field, send);
  const over = make('ol', { class: 'over-turns' });
  const drawing = make('div', { id: 'chat-attention' });
  const title = make('h2', { id: 'chat-title', 'data-word': 'chat.replyAttended' });
  const card = make(
    'section',
    { class: 'card', hidden: true, 'aria-labelledby': 'chat-title' },
    make('div', { class: 'section-head' }, title),
    over,
    drawing,
  );
  const view = attentionView(drawing, [], { fileName: 'reply' });

  const { tab, element, chooser, busy, model, ready, submit, waitingText } = modelTab(page, {
    task: 'chat',
    send: api.chat,
    answered(reply) {
      replies.set(turns.length, reply);
      turns.push(reply.reply);
      shown = turns.length - 1;
      draw();
      page.addressChanged();
    },
    modelsChanged() {
      draw();
      ask(0);
    },
    open(parameters) {
      const wanted = (parameters.text || '').split('\n').filter((turn) => turn.trim());
      if (wanted.join('\n') === turns.join('\n')) return;
      begin(wanted);
      if (ready()) ask(0);
    },
    address: () => ({ text: turns.join('\n') }),
    ask,
    redraw: draw,
    focus: () => field.focus({ preventScroll: true }),
  });
  const desk = make(
    'section',
    { class: 'card chat-desk', 'aria-busy': 'false' },
    make('div', { class: 'pane-head' }, ...chooser, busy, clear),
    talk,
    examples,
    form,
  );
  element.append(desk, card);

  function begin(with_turns) {
    turns = with_turns;
    replies = new Map();
    shown = -1;
    draw();
  }

  function draw() {
    clear.hidden = turns.length === 0;
    examples.hidden = turns.length > 0;
    // The first turns of the model's validation data.
    const first = new Set(((model() || {}).examples || []).map((line) => line.split('\t')[0]));
    showExamples(examples, [...first], (one) => {
      field.value = one;
      form.requestSubmit();
    });
    send.disabled = !model();
    talk.replaceChildren(...turns.map((turn, i) => (i % 2 === 0 ? question(turn) : reply(turn, i))));
    if (!turns.length) {
      talk.append(make('p', { class: 'empty' }, waitingText(chatWords.sayFirst, chatWords.noChat)));
    }
    talk.scrollTop = talk.scrollHeight;
    drawAttention();
  }
  const question = (turn) =>
    make('p', { class: 'mine', dir: 'auto' }, make('span', { class: 'visually-hidden' }, `${chatWords.you}: `), turn);
  const reply = (turn, i) =>
    make(
      'button',
      {
        type: 'button',
        class: 'reply',
        dir: 'auto',
        'aria-pressed': String(i === shown),
        onclick() {
          shown = i;
          draw();
        },
      },
      turn || '…',
    );

  function drawAttention() {
    const answer = replies.get(shown);
    card.hidden = !(answer && answer.attention);
    if (card.hidden) return;
    // Of each turn the mean over the tokens of the reply.
    const rows = answer.attention_over_turns;
    const count = rows[0].length;
    over.replaceChildren(
      ...rows[0].map((_, t) => {
        const share = rows.reduce((sum, row) => sum + row[t], 0) / rows.length;
        const said = turns[shown - count + t] || '';
        const item = make('li', {}, make('b', {}, formatPercent(share)), make('span', { dir: 'auto' }, said));
        item.style.setProperty('--w', share.toFixed(3));
        return item;
      }),
    );
    view.set([{ ...answer.attention, sides: { source: 'said', target: 'reply' } }]);
  }

  function ask(delay) {
    const unanswered = turns.length % 2 === 1;
    const ours = unanswered && model() && !page.locked();
    submit(ours ? request() : null, delay);
  }
  const request = () => ({
    turns: turns.slice(-(model().max_turns || 5)),
    model: model().name,
    attention: Boolean(model().attention),
  });

  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const text = field.value.trim();
    if (!text || !model() || turns.length % 2 === 1) return;
    field.value = '';
    turns.push(text);
    draw();
    ask(0);
  });
  clear.addEventListener('click', () => {
    submit(null, 0);
    begin([]);
    page.addressChanged();
    field.focus();
  });
  return tab;
}

export const chatTab = { task: 'chat', words: chatWords, create };
