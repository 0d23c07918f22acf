// Captions: a picture that is dropped, pasted or chosen on the left, below it the caption whose words show what they
// looked at. The picture is cut to its middle square and made small here, so that photographs of any size can be sent.
// Its address: task=caption&model=NAME; the picture is not part of it.
(function () {
  'use strict';
  const { make } = Fovea;
  const SIDE = 512; // pixels that are sent

  // The middle square of a picture file as a canvas, the right way up.
  async function squareOf(file) {
    const bitmap = await createImageBitmap(file);
    const from = Math.min(bitmap.width, bitmap.height);
    const side = Math.min(SIDE, from);
    const canvas = make('canvas', { width: side, height: side, role: 'img' });
    const context = canvas.getContext('2d');
    context.fillStyle = '#fff';
    context.fillRect(0, 0, side, side);
    context.imageSmoothingQuality = 'high';
    context.drawImage(bitmap, (bitmap.width - from) / 2, (bitmap.height - from) / 2, from, from, 0, 0, side, side);
    return canvas;
  }

  Fovea.view('caption', (page) => {
    const state = { models: [], ready: false, canvas: null, shown: null, wanted: {} };
    const box = make('select', { id: 'caption-model', class: 'bare' });
    const busy = make('span', { class: 'busy', 'aria-hidden': 'true' });
    const input = make('input', { type: 'file', id: 'caption-file', accept: 'image/jpeg,image/png', class: 'visually-hidden' });
    const target = make('label', { class: 'picture-drop', for: 'caption-file', tabindex: 0, role: 'button' },
      make('strong', { 'data-word': 'dropPicture' }), make('span', { class: 'aside', 'data-word': 'choosePicture' }), make('span', { class: 'again', 'data-word': 'otherPicture' }));
    const result = make('div', { id: 'caption-result', 'aria-live': 'polite' });
    const waiting = make('p', { class: 'waiting' });
    const head = make('div', { class: 'pane-head' }, make('label', { class: 'visually-hidden', for: 'caption-model', 'data-word': 'model' }), box, busy);
    const desk = make('section', { class: 'card picture-desk', 'aria-busy': 'false' }, head, input, target, result, waiting);
    const element = document.getElementById('view-caption');
    element.append(desk);

    const model = () => state.models.find((one) => one.name === box.value) || state.models[0];
    const asker = Fovea.asker({
      trouble: page.trouble, connection: page.connection,
      busy: (on) => { busy.classList.toggle('on', on); desk.setAttribute('aria-busy', String(on)); },
      async run(request, signal, came) {
        const reply = await Fovea.api.caption(request, signal);
        if (signal.aborted) return;
        came();
        state.shown = reply;
        draw();
      },
    });

    function ask() {
      const nothing = !state.canvas || !model() || page.locked();
      if (nothing) empty();
      asker.ask(nothing ? null : {
        image: state.canvas.toDataURL('image/jpeg', 0.92), model: model().name, attention: Boolean(model().attention),
      }, 0);
      page.wrote();
    }
    function empty() {
      state.shown = null;
      waiting.hidden = false;
      waiting.textContent = !state.ready ? Fovea.words.loading : page.locked() ? Fovea.words.keyHint : model() ? Fovea.words.captionYet : Fovea.words.noCaptioner;
      result.replaceChildren(...(state.canvas ? [make('figure', { class: 'picture' }, make('div', { class: 'picture-frame' }, state.canvas))] : []));
    }
    function draw() {
      const { shown } = state;
      waiting.hidden = true;
      result.replaceChildren(make('h2', { class: 'picture-caption' }, shown.caption),
        Fovea.picture({ target: shown.tokens, weights: shown.attention || [], picture: { rows: shown.rows, columns: shown.columns } }, state.canvas));
      state.canvas.setAttribute('aria-label', shown.caption);
    }

    async function take(file) {
      if (!file) return;
      try {
        state.canvas = await squareOf(file);
      } catch (unreadable) {
        page.trouble('refused', { text: Fovea.words.notAPicture });
        return;
      }
      if (!target.classList.contains('small')) { target.classList.add('small'); head.append(target); } // out of the way
      empty();
      ask();
    }
    input.addEventListener('change', () => take(input.files[0]));
    target.addEventListener('keydown', (event) => { if (event.key === 'Enter' || event.key === ' ') { event.preventDefault(); input.click(); } });
    for (const name of ['dragenter', 'dragover']) {
      element.addEventListener(name, (event) => { event.preventDefault(); target.classList.add('over'); });
    }
    for (const name of ['dragleave', 'drop']) element.addEventListener(name, () => target.classList.remove('over'));
    element.addEventListener('drop', (event) => { event.preventDefault(); take(event.dataTransfer.files[0]); });
    document.addEventListener('paste', (event) => { if (!element.hidden) take([...event.clipboardData.files][0]); });
    box.addEventListener('change', ask);

    return {
      element,
      models(list) {
        state.ready = true;
        state.models = list;
        const wish = state.wanted.model || box.value;
        box.replaceChildren(...list.map((one) => make('option', { value: one.name }, one.name)));
        box.value = list.some((one) => one.name === wish) ? wish : (list[0] || {}).name || '';
        box.disabled = list.length < 2;
        if (!state.shown) empty();
      },
      again: ask,
      keyChanged: ask,
      say() {},
      follow(wanted) {
        state.wanted = wanted;
        if (state.models.some((one) => one.name === wanted.model)) box.value = wanted.model;
      },
      address: () => ({ model: state.models.length > 1 ? box.value : '' }),
      wordsChanged() { if (state.shown) draw(); else empty(); },
      focus() {}, // the page has nothing to write in
    };
  });
})();
