// Conversations: what was said, a field to go on, and below what the chosen reply attended to, by turn and by word. Its
// address: task=chat&text=WHAT WAS SAID, a line per turn&model=NAME.
(function () {
  'use strict';
  const { make } = Fovea;

  Fovea.view('chat', (page) => {
    const state = { models: [], ready: false, turns: [], replies: new Map(), shown: -1, wanted: {} };
    const talk = make('div', { class: 'talk', role: 'log', 'data-word-label': 'conversation' });
    const box = make('select', { id: 'chat-model', class: 'bare' });
    const busy = make('span', { class: 'busy', 'aria-hidden': 'true' });
    const clear = make('button', { type: 'button', class: 'quiet', 'data-word': 'newTalk', hidden: true });
    const field = make('input', { id: 'chat-text', type: 'text', autocomplete: 'off', dir: 'auto', 'data-word-placeholder': 'say' });
    const send = make('button', { type: 'submit', 'data-word': 'send' });
    const examples = make('div', { class: 'examples' });
    const form = make('form', { class: 'say' }, make('label', { class: 'visually-hidden', for: 'chat-text', 'data-word': 'say' }), field, send);
    const desk = make('section', { class: 'card chat-desk', 'aria-busy': 'false' },
      make('div', { class: 'pane-head' }, make('label', { class: 'visually-hidden', for: 'chat-model', 'data-word': 'model' }), box, busy, clear), talk, examples, form);
    const over = make('ol', { class: 'over-turns' });
    const drawing = make('div', { id: 'chat-attention' });
    const card = make('section', { class: 'card', hidden: true, 'aria-labelledby': 'chat-title' },
      make('div', { class: 'section-head' }, make('h2', { id: 'chat-title', 'data-word': 'replyAttended' })), over, drawing);
    const element = document.getElementById('view-chat');
    element.append(desk, card);
    const view = Fovea.attention(drawing, [], { fileName: 'reply' });

    const model = () => state.models.find((one) => one.name === box.value) || state.models[0];
    const asker = Fovea.asker({
      trouble: page.trouble, connection: page.connection,
      busy: (on) => { busy.classList.toggle('on', on); desk.setAttribute('aria-busy', String(on)); },
      async run(request, signal, came) {
        const reply = await Fovea.api.chat(request, signal);
        if (signal.aborted) return;
        came();
        state.replies.set(state.turns.length, reply);
        state.turns.push(reply.reply);
        state.shown = state.turns.length - 1;
        draw();
        page.wrote();
      },
    });

    // Turns are said by turns: the first, third … by the reader.
    function draw() {
      clear.hidden = state.turns.length === 0;
      examples.hidden = state.turns.length > 0;
      const first = [...new Set(((model() || {}).examples || []).map((line) => line.split('\t')[0]))]; // what a conversation began with
      Fovea.exampleList(examples, first, (one) => { field.value = one; form.requestSubmit(); });
      send.disabled = !model();
      talk.replaceChildren(...state.turns.map((turn, i) => (i % 2 === 0 ? make('p', { class: 'mine', dir: 'auto' }, make('span', { class: 'visually-hidden' }, `${Fovea.words.you}: `), turn)
        : make('button', { type: 'button', class: 'reply', dir: 'auto', 'aria-pressed': String(i === state.shown), onclick: () => { state.shown = i; draw(); } }, turn || '…'))));
      if (!state.turns.length) {
        talk.append(make('p', { class: 'empty' }, !state.ready ? Fovea.words.loading : page.locked() ? Fovea.words.keyHint : model() ? Fovea.words.sayFirst : Fovea.words.noChat));
      }
      talk.scrollTop = talk.scrollHeight;
      const reply = state.replies.get(state.shown);
      card.hidden = !(reply && reply.attention);
      if (card.hidden) return;
      // Of each turn the mean over the reply's tokens.
      const rows = reply.attention_over_turns;
      const read = rows[0].length;
      over.replaceChildren(...rows[0].map((_, t) => {
        const share = rows.reduce((sum, row) => sum + row[t], 0) / rows.length;
        const item = make('li', {}, make('b', {}, Fovea.percent(share)), make('span', { dir: 'auto' }, state.turns[state.shown - read + t] || ''));
        item.style.setProperty('--w', share.toFixed(3));
        return item;
      }));
      view.set([{ ...reply.attention, sides: { source: 'said', target: 'reply' } }]);
    }

    function ask(delay) {
      const last = state.turns.length - 1;
      const waits = last >= 0 && last % 2 === 0;
      asker.ask(waits && model() && !page.locked() ? { turns: state.turns.slice(-(model().max_turns || 5)), model: model().name, attention: Boolean(model().attention) } : null, delay);
    }

    form.addEventListener('submit', (event) => {
      event.preventDefault();
      const text = field.value.trim();
      if (!text || !model() || state.turns.length % 2 === 1) return;
      field.value = '';
      state.turns.push(text);
      draw();
      ask(0);
    });
    clear.addEventListener('click', () => {
      asker.ask(null, 0);
      Object.assign(state, { turns: [], replies: new Map(), shown: -1 });
      draw();
      page.wrote();
      field.focus();
    });

    return {
      element,
      models(list) {
        state.ready = true;
        state.models = list;
        const wish = state.wanted.model || box.value;
        box.replaceChildren(...list.map((one) => make('option', { value: one.name }, one.name)));
        box.value = list.some((one) => one.name === wish) ? wish : (list[0] || {}).name || '';
        box.disabled = list.length < 2;
        draw();
        ask(0);
      },
      again: () => ask(0),
      keyChanged: () => ask(400),
      say() {},
      follow(wanted) {
        state.wanted = wanted;
        const turns = (wanted.text || '').split('\n').filter((turn) => turn.trim());
        if (turns.join('\n') === state.turns.join('\n')) return;
        Object.assign(state, { turns, replies: new Map(), shown: -1 });
        draw();
        if (state.ready) ask(0);
      },
      address: () => ({ text: state.turns.join('\n'), model: state.models.length > 1 ? box.value : '' }),
      wordsChanged: () => draw(),
      focus() { field.focus({ preventScroll: true }); },
    };
  });
})();
