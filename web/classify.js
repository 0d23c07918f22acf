// Classification: a text on the left, the labels with their probabilities on the right, below the words that decided.
// Attention is one weight per word, whatever the label; saliency (gradient times input) says of each label which words
// speak for it and which against it. Its address: task=classify&text=…&model=NAME&label=LABEL.
(function () {
  'use strict';
  const { make } = Fovea;

  Fovea.view('classify', (page) => {
    const state = { models: [], limit: 0, ready: false, shown: null, wanted: {}, label: '' };
    const text = make('textarea', { id: 'classify-text', spellcheck: 'false', autocapitalize: 'off', dir: 'auto', 'data-word-placeholder': 'write' });
    const box = make('select', { id: 'classify-model', class: 'bare' });
    const busy = make('span', { class: 'busy', 'aria-hidden': 'true' });
    const count = make('span', { class: 'aside count' });
    const examples = make('div', { class: 'examples' });
    const clear = make('button', { type: 'button', class: 'quiet', 'data-word': 'clear', hidden: true });
    const labels = make('div', { id: 'labels', class: 'labels', role: 'group', 'data-word-label': 'labels' });
    const waiting = make('p', { class: 'waiting' });
    const words = make('div', { id: 'decided' });
    const facts = make('span', { class: 'aside' });
    const card = make('section', { class: 'card', hidden: true, 'aria-labelledby': 'decided-title' },
      make('div', { class: 'section-head' }, make('h2', { id: 'decided-title', 'data-word': 'decided' }), facts), words);
    const desk = make('section', { class: 'desk', 'aria-busy': 'false' },
      make('div', { class: 'pane' },
        make('div', { class: 'pane-head' }, make('label', { class: 'visually-hidden', for: 'classify-model', 'data-word': 'model' }), box, clear),
        make('div', { class: 'sheet' }, make('label', { class: 'visually-hidden', for: 'classify-text', 'data-word': 'yours' }), text),
        make('div', { class: 'pane-foot' }, examples, count)),
      make('div', { class: 'pane beside' },
        make('div', { class: 'pane-head' }, make('span', { class: 'pane-title', 'data-word': 'labels' }), busy),
        make('div', { class: 'sheet' }, labels, waiting)));
    const element = document.getElementById('view-classify');
    element.append(desk, card);

    const model = () => state.models.find((one) => one.name === box.value) || state.models[0];
    const asker = Fovea.asker({
      trouble: page.trouble, connection: page.connection,
      busy: (on) => { busy.classList.toggle('on', on); desk.setAttribute('aria-busy', String(on)); },
      async run(request, signal, came) {
        const reply = await Fovea.api.classify(request, signal);
        if (signal.aborted) return;
        came();
        state.shown = { ...reply, text: request.q };
        draw();
      },
    });

    function changed(delay) {
      const length = [...text.value].length;
      clear.hidden = text.value === '';
      count.textContent = state.limit > 0 && length > state.limit * 0.7 ? Fovea.words.count(length, state.limit) : '';
      desk.classList.toggle('long', text.value.length > 260);
      const nothing = text.value.trim() === '' || !model() || page.locked();
      if (nothing) empty();
      labels.classList.toggle('stale', !nothing);
      examples.hidden = text.value !== '';
      const request = nothing ? null : {
        q: text.value, model: model().name, attention: Boolean(model().attention), ...(model().saliency ? { saliency: true } : {}),
      };
      if (delay === undefined) asker.typed(request);
      else asker.ask(request, delay);
      page.wrote();
    }
    function empty() {
      state.shown = null;
      labels.replaceChildren();
      card.hidden = true;
      waiting.hidden = false;
      waiting.textContent = !state.ready ? Fovea.words.loading : page.locked() ? Fovea.words.keyHint : model() ? Fovea.words.labelsYet : Fovea.words.noClassifier;
    }

    // The labels as bars, likeliest first; one of them is the one whose words are shown.
    function draw() {
      const { shown } = state;
      const all = Object.entries(shown.probabilities);
      waiting.hidden = all.length > 0;
      if (!all.length) waiting.textContent = Fovea.words.noWords;
      const label = shown.probabilities[state.label] === undefined ? shown.label : state.label;
      labels.classList.remove('stale');
      labels.replaceChildren(...Fovea.labelBars(all.map(([name, probability]) => ({ label: name, probability })), label, (name) => {
        state.label = name === shown.label ? '' : name;
        draw();
        page.wrote();
      }));
      const rows = Fovea.decided(shown, label);
      words.replaceChildren(...rows);
      card.hidden = !rows.length;
      facts.textContent = shown.model || '';
    }

    const examined = () => Fovea.exampleList(examples, (model() || {}).examples || [], (one) => { text.value = one; text.focus(); changed(0); });
    const edited = () => { state.label = ''; changed(); };
    text.addEventListener('input', (event) => { if (!event.isComposing) edited(); });
    text.addEventListener('compositionend', edited);
    clear.addEventListener('click', () => { text.value = ''; changed(0); text.focus(); });
    box.addEventListener('change', () => { state.label = ''; examined(); changed(0); });

    return {
      element,
      models(list, settings) {
        state.ready = true;
        state.models = list;
        state.limit = Number(settings.charLimit) > 0 ? Number(settings.charLimit) : 0;
        const wish = state.wanted.model || box.value;
        box.replaceChildren(...list.map((one) => make('option', { value: one.name }, one.name)));
        box.value = list.some((one) => one.name === wish) ? wish : (list[0] || {}).name || '';
        box.disabled = list.length < 2;
        examined();
        if (text.value.trim() === '') empty();
      },
      again: () => changed(0),
      keyChanged: () => changed(400),
      say(word) { count.textContent = word; setTimeout(() => { count.textContent = ''; }, 1400); },
      follow(wanted) {
        text.value = wanted.text || '';
        state.wanted = wanted;
        state.label = wanted.label || '';
        if (!state.ready) return;
        if (state.models.some((one) => one.name === wanted.model)) box.value = wanted.model;
        changed(0);
      },
      address: () => ({ text: text.value, model: state.models.length > 1 ? box.value : '', label: state.label }),
      wordsChanged() { examined(); if (state.shown) draw(); else empty(); },
      focus() { if (!text.value) text.focus({ preventScroll: true }); },
    };
  });
})();
