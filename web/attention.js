// Draws attention: Fovea.attention(element, pictures). A picture is a line of `fovea run --attention`:
//   {source: [token], target: [token], weights: [[number]], title?, heads?: [{layer, head, weights}]}
// What it gives back has set(pictures), show(index), choose({layer, head}) and state; options.onshow(state) is called
// when the reader chose something.
// Pointing at a token, or moving to it with the keys, lights up what it attended to, in both directions.
(function () {
  'use strict';
  const { make, words } = Fovea;
  const SVG = 'http://www.w3.org/2000/svg';
  const percent = (w) => (w >= 0.0995 ? Math.round(w * 100) + '%' : w >= 0.0005 ? (w * 100).toFixed(1) + '%' : '0%');
  const argmax = (list) => list.reduce((best, w, i) => (w > list[best] ? i : best), 0);
  const column = (weights, s) => weights.map((row) => row[s]);

  // Tokens as the sentence they came from: characters and SentencePiece's pieces join without spaces.
  const sentence = (all) => {
    const tokens = all.filter((token) => token !== '</s>' && token !== '<s>');
    if (tokens.some((token) => token.startsWith('▁'))) return tokens.join('').replaceAll('▁', ' ').trim();
    return tokens.join(tokens.every((token) => [...token].length === 1) ? '' : ' ');
  };
  const MANY = 90; // tokens on a side from which the two sides stand beside each other and scroll

  Fovea.attention = function (root, pictures, options = {}) {
    const state = { at: 0, layer: '', head: '', active: null, pinned: null };
    let picture = null;
    let weights = [];
    root.classList.add('attention');
    root.replaceChildren();

    // --- choosing a sentence, a layer, a head --------------------------------------------------------------------
    const bar = make('div', { class: 'attention-bar' });
    const pick = make('select', { 'aria-label': words.sentence, onchange: () => show(pick.selectedIndex) });
    const previous = make('button', { class: 'step', 'aria-label': words.previous, onclick: () => show(state.at - 1) }, '‹');
    const next = make('button', { class: 'step', 'aria-label': words.next, onclick: () => show(state.at + 1) }, '›');
    const layer = make('select', { onchange: () => choose({ layer: layer.value }) });
    const head = make('select', { onchange: () => choose({ head: head.value }) });
    const heads = make('span', { class: 'attention-bar', style: 'margin:0' },
      make('label', {}, words.layer, layer), make('label', {}, words.head, head));
    bar.append(previous, make('label', { class: 'pick' }, pick), next, heads);

    // --- the rows of tokens and the lines between them ------------------------------------------------------------
    const lines = document.createElementNS(SVG, 'svg');
    lines.setAttribute('class', 'attention-lines');
    lines.setAttribute('aria-hidden', 'true');
    const source = make('ol', { class: 'tokens source', 'aria-label': words.source });
    const target = make('ol', { class: 'tokens target', 'aria-label': words.target });
    const side = (name, list) => make('div', { class: 'attention-side' },
      make('p', { 'aria-hidden': 'true' }, name), list);
    const rows = make('div', { class: 'attention-rows' },
      lines, side(words.source, source), make('div', { class: 'attention-gap' }), side(words.target, target));
    const readout = make('output', { class: 'attention-readout', 'aria-live': 'polite' });

    // --- the heat map -------------------------------------------------------------------------------------------
    const canvas = make('canvas', { tabindex: '0', role: 'img', 'aria-label': words.map });
    const bandRow = make('div', { class: 'band' });
    const bandColumn = make('div', { class: 'band' });
    const map = make('div', { class: 'map' }, canvas, bandRow, bandColumn);
    const swatch = make('i');
    const legend = make('div', { class: 'map-legend', 'aria-hidden': 'true' }, '0', swatch, '1');
    const scroll = make('div', { class: 'map-scroll' }, map);
    root.append(bar, rows, readout, scroll, legend);
    let grid = { cell: 0, left: 0, top: 0 };

    // Other pictures in the same place; as many as before keep the sentence that is shown.
    function set(list) {
      const same = list.length === pictures.length;
      pictures = list;
      pick.replaceChildren(...pictures.map((one, i) => {
        const text = one.title || sentence(one.source) || words.empty;
        return make('option', {}, `${i + 1}. ${text.length > 90 ? text.slice(0, 90) + '…' : text}`);
      }));
      root.hidden = pictures.length === 0;
      show(same ? state.at : 0);
    }

    function show(index) {
      if (index < 0 || index >= pictures.length) return;
      state.at = index;
      picture = pictures[index];
      pick.selectedIndex = index;
      previous.disabled = index === 0;
      next.disabled = index === pictures.length - 1;
      previous.hidden = next.hidden = pick.parentElement.hidden = pictures.length < 2;
      const list = picture.heads || [];
      heads.hidden = list.length === 0;
      bar.hidden = pictures.length < 2 && list.length === 0;
      for (const [box, key] of [[layer, 'layer'], [head, 'head']]) {
        const numbers = [...new Set(list.map((one) => one[key]))].sort((a, b) => a - b);
        box.replaceChildren(make('option', { value: '' }, words.mean),
          ...numbers.map((n) => make('option', { value: n }, String(n))));
        if (!numbers.includes(Number(state[key]))) state[key] = '';
        box.value = state[key];
      }
      fill(source, picture.source, 'source');
      fill(target, picture.target, 'target');
      rows.classList.toggle('many', Math.max(picture.source.length, picture.target.length) > MANY);
      choose({});
      if (options.onshow) options.onshow(state);
    }

    // The mean of the heads that match, or the picture's own weights.
    function choose(change) {
      Object.assign(state, change);
      const matching = (picture.heads || []).filter((one) =>
        (state.layer === '' || one.layer === Number(state.layer)) && (state.head === '' || one.head === Number(state.head)));
      weights = picture.weights;
      if ((state.layer !== '' || state.head !== '') && matching.length > 0) {
        weights = picture.target.map((_, t) => picture.source.map((__, s) =>
          matching.reduce((sum, one) => sum + one.weights[t][s], 0) / matching.length));
      }
      state.active = state.pinned = null;
      drawMap();
      light();
      if (Object.keys(change).length > 0 && options.onshow) options.onshow(state);
    }

    function fill(list, tokens, side) {
      list.replaceChildren(...tokens.map((token, i) => make('li', {},
        make('button', {
          type: 'button', tabindex: i === 0 ? '0' : '-1', dir: 'auto',
          onpointerenter: (e) => e.pointerType !== 'touch' && !state.pinned && activate({ side, i }),
          onpointerleave: (e) => e.pointerType !== 'touch' && !state.pinned && activate(null),
          onfocus: (e) => { rove(list, i); if (!state.pinned && e.target.matches(':focus-visible')) activate({ side, i }); },
          onblur: () => !state.pinned && activate(null),
          onclick: () => pin({ side, i }),
          onkeydown: (e) => move(e, side, i),
        }, token.trim() === '' ? '␣' : token, make('span', { class: 'share', 'aria-hidden': 'true' })))));
    }

    const button = (side, i) => (side === 'source' ? source : target).children[i].firstChild;
    function rove(list, i) {
      for (const item of list.children) item.firstChild.tabIndex = -1;
      list.children[i].firstChild.tabIndex = 0;
    }
    function activate(what) { state.active = what; light(); }
    function pin(what) {
      const same = state.pinned && state.pinned.side === what.side && state.pinned.i === what.i;
      state.pinned = same ? null : what;
      activate(same ? null : what);
    }

    // Left and right walk along a row; down and up jump to the token on the other side with the largest weight.
    function move(event, side, i) {
      const count = side === 'source' ? picture.source.length : picture.target.length;
      let to = null;
      if (event.key === 'ArrowRight') to = { side, i: Math.min(count - 1, i + 1) };
      else if (event.key === 'ArrowLeft') to = { side, i: Math.max(0, i - 1) };
      else if (event.key === 'Home') to = { side, i: 0 };
      else if (event.key === 'End') to = { side, i: count - 1 };
      else if (event.key === 'ArrowDown' && side === 'source' && picture.target.length) to = { side: 'target', i: argmax(column(weights, i)) };
      else if (event.key === 'ArrowUp' && side === 'target' && picture.source.length) to = { side: 'source', i: argmax(weights[i]) };
      else if (event.key === 'Escape') { state.pinned = null; activate(null); return; }
      else return;
      event.preventDefault();
      state.pinned = null;
      button(to.side, to.i).focus();
      activate(to);
    }

    // --- lighting up ----------------------------------------------------------------------------------------------
    // active is null, {side, i}, or {t, s} for a cell of the map.
    function light() {
      const active = state.active;
      rows.classList.toggle('lit', Boolean(active));
      const shares = { source: null, target: null };
      if (active && active.side === 'target') shares.source = weights[active.i];
      else if (active && active.side === 'source') shares.target = column(weights, active.i);
      else if (active) { shares.source = weights[active.t]; }
      for (const [side, list] of [['source', source], ['target', target]]) {
        const share = shares[side];
        for (let i = 0; i < list.children.length; ++i) {
          const b = list.children[i].firstChild;
          const own = active && ((active.side === side && active.i === i) || (side === 'target' && active.t === i));
          b.classList.toggle('active', Boolean(own));
          b.classList.toggle('pinned', Boolean(own && state.pinned));
          b.classList.toggle('dim', Boolean(active && !own && (!share || share[i] < 0.02)));
          const colour = share && share[i] >= 0.02 ? Fovea.weightColour(share[i]) : null;
          b.style.backgroundColor = colour ? Fovea.css(colour) : '';
          b.style.color = colour ? Fovea.textOn(colour) : '';
          b.lastChild.textContent = share && share[i] >= 0.02 ? percent(share[i]) : '';
        }
      }
      drawLines();
      placeBands();
      say();
      if (active && rows.classList.contains('many')) follow(shares);
    }

    // In long texts, brings the most attended token of the other side into its scrolling part.
    function follow(shares) {
      for (const [side, list] of [['source', source], ['target', target]]) {
        if (!shares[side] || !list.children.length) continue;
        const item = list.children[argmax(shares[side])];
        const pane = list.parentElement;
        const off = item.getBoundingClientRect().top - pane.getBoundingClientRect().top;
        if (off < 30 || off > pane.clientHeight - 40) pane.scrollTop += off - pane.clientHeight / 2;
      }
    }

    function say() {
      const active = state.active;
      const strongest = (list, tokens) => {
        const order = list.map((w, i) => i).filter((i) => list[i] >= 0.005).sort((a, b) => list[b] - list[a]).slice(0, 4);
        return order.map((i) => `${tokens[i]} ${percent(list[i])}`).join(', ') || words.nothing;
      };
      if (!active) readout.textContent = words.hint;
      else if (active.side === 'target') readout.textContent = words.looked(picture.target[active.i], strongest(weights[active.i], picture.source));
      else if (active.side === 'source') readout.textContent = words.read(picture.source[active.i], strongest(column(weights, active.i), picture.target));
      else readout.textContent = words.cell(picture.target[active.t], picture.source[active.s], weights[active.t][active.s].toFixed(4));
    }

    // All lines, faint, while few tokens stand in one row each; else only those of the token that is pointed at.
    function drawLines() {
      lines.replaceChildren();
      if (!picture.source.length || !picture.target.length || rows.classList.contains('many')) return;
      const frame = rows.getBoundingClientRect();
      const place = (list, edge) => Array.from(list.children, (item) => {
        const box = item.getBoundingClientRect();
        return { x: box.left + box.width / 2 - frame.left, y: box[edge] - frame.top, top: box.top };
      });
      const from = place(source, 'bottom');
      const to = place(target, 'top');
      const flat = (places) => places.every((p) => Math.abs(p.top - places[0].top) < 2);
      const active = state.active;
      const all = flat(from) && flat(to) && picture.source.length * picture.target.length <= 2500;
      const path = (t, s, strong) => {
        const w = weights[t][s];
        if (w < (strong ? 0.02 : 0.04)) return;
        const a = from[s];
        const b = to[t];
        const bend = (b.y - a.y) * 0.45;
        const p = document.createElementNS(SVG, 'path');
        p.setAttribute('d', `M${a.x} ${a.y}C${a.x} ${a.y + bend} ${b.x} ${b.y - bend} ${b.x} ${b.y}`);
        p.setAttribute('stroke-width', strong ? 1 + 4.5 * w : 0.8 + 3.2 * w);
        p.setAttribute('stroke-opacity', strong ? 0.15 + 0.85 * w : active ? 0.05 : 0.06 + 0.6 * w * w);
        lines.append(p);
      };
      const isActive = (t, s) => active && (active.side === 'target' ? active.i === t : active.side === 'source' ? active.i === s : active.t === t && active.s === s);
      if (all) weights.forEach((row, t) => row.forEach((_, s) => { if (!isActive(t, s)) path(t, s, false); }));
      if (!active) return;
      if (active.side === 'target') picture.source.forEach((_, s) => path(active.i, s, true));
      else if (active.side === 'source') picture.target.forEach((_, t) => path(t, active.i, true));
      else path(active.t, active.s, true);
    }

    // --- the heat map: one canvas, labels included -----------------------------------------------------------------
    function drawMap() {
      const S = picture.source.length;
      const T = picture.target.length;
      scroll.hidden = legend.hidden = !S || !T;
      if (!S || !T) return;
      const style = getComputedStyle(root);
      const context = canvas.getContext('2d');
      const room = scroll.clientWidth || root.clientWidth || 600;
      const cut = (text) => (text.trim() === '' ? '␣' : [...text].length > 18 ? [...text].slice(0, 17).join('') + '…' : text);
      const measure = (size, tokens) => {
        context.font = `${size}px ${style.fontFamily}`;
        return Math.max(0, ...tokens.map((token) => context.measureText(cut(token)).width));
      };
      let left = Math.min(measure(14, picture.target), room * 0.34) + 12;
      let cell = Math.max(Math.min(36, (room - left - 8) / S), Math.min(13, 2400 / Math.max(S, T)));
      const size = Math.max(9, Math.min(14, cell * 0.62));
      const labels = cell >= 9;
      left = labels ? Math.min(measure(size, picture.target), room * 0.34) + 12 : 6;
      cell = Math.max(Math.min(36, (room - left - 8) / S), Math.min(13, 2400 / Math.max(S, T)));
      const widest = measure(size, picture.source);
      // Short tokens stand upright; words lean. Where nearly all are short only the others lean.
      const widths = picture.source.map((token) => context.measureText(cut(token)).width);
      const short = widths.filter((w) => w <= cell * 0.92).length;
      const leans = widths.map((w) => short < S * 0.8 || w > cell * 0.92);
      const lean = !leans[S - 1] ? 0 : Math.max(0, widths[S - 1] * 0.71 - cell / 2);
      const top = labels ? (short === S ? size + 10 : widest * 0.71 + size) : 6;
      grid = { cell, left, top };
      const width = Math.ceil(left + cell * S + Math.max(lean, 8));
      const height = Math.ceil(top + cell * T + 4);
      const dense = Math.min(window.devicePixelRatio || 1, 8192 / Math.max(width, height));
      canvas.width = Math.round(width * dense);
      canvas.height = Math.round(height * dense);
      canvas.style.width = width + 'px';
      canvas.style.height = height + 'px';
      context.setTransform(dense, 0, 0, dense, 0, 0);
      context.clearRect(0, 0, width, height);

      // One pixel per weight, then stretched: as fast for 500 tokens as for 5.
      const scale = Fovea.scale('cool', Fovea.theme());
      const pixels = new ImageData(S, T);
      weights.forEach((row, t) => row.forEach((w, s) => {
        const rgb = scale[Math.round(Math.max(0, Math.min(1, w)) * 255)];
        pixels.data.set([rgb[0], rgb[1], rgb[2], 255], (t * S + s) * 4);
      }));
      const small = document.createElement('canvas');
      small.width = S;
      small.height = T;
      small.getContext('2d').putImageData(pixels, 0, 0);
      context.imageSmoothingEnabled = false;
      context.drawImage(small, left, top, cell * S, cell * T);
      if (labels) {
        context.fillStyle = style.color;
        context.font = `${size}px ${style.fontFamily}`;
        context.textBaseline = 'middle';
        context.textAlign = 'right';
        picture.target.forEach((token, t) => context.fillText(cut(token), left - 7, top + cell * (t + 0.5), left - 8));
        picture.source.forEach((token, s) => {
          context.save();
          context.translate(left + cell * (s + 0.5), top - 7);
          if (leans[s]) context.rotate(-Math.PI / 4);
          context.textAlign = leans[s] ? 'left' : 'center';
          context.textBaseline = leans[s] ? 'middle' : 'alphabetic';
          context.fillText(cut(token), 0, 0);
          context.restore();
        });
      }
      if (cell >= 26) {
        context.font = `${Math.round(size * 0.78)}px ${style.fontFamily}`;
        context.textAlign = 'center';
        context.textBaseline = 'middle';
        weights.forEach((row, t) => row.forEach((w, s) => {
          if (w < 0.05) return;
          context.fillStyle = Fovea.textOn(Fovea.weightColour(w));
          context.fillText(String(Math.round(w * 100)), left + cell * (s + 0.5), top + cell * (t + 0.5) + 0.5);
        }));
      }
      const stops = [0, 0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875, 1].map((w) => Fovea.css(Fovea.weightColour(w)));
      swatch.style.background = `linear-gradient(to right, ${stops.join(',')})`;
      canvas.setAttribute('aria-label', words.map + ': ' + picture.target.slice(0, 60).map((token, t) =>
        `${token} ← ${picture.source[argmax(weights[t])]} ${percent(Math.max(...weights[t]))}`).join('; '));
    }

    function placeBands() {
      const a = state.active;
      const S = picture.source.length;
      const T = picture.target.length;
      const t = a ? (a.side === 'target' ? a.i : a.t) : undefined;
      const s = a ? (a.side === 'source' ? a.i : a.s) : undefined;
      const { cell, left, top } = grid;
      const put = (band, shown, x, y, w, h) => {
        band.style.display = shown ? 'block' : 'none';
        Object.assign(band.style, { left: x + 'px', top: y + 'px', width: w + 'px', height: h + 'px' });
      };
      put(bandRow, t !== undefined, left, top + cell * (t || 0), cell * S, cell);
      put(bandColumn, s !== undefined, left + cell * (s || 0), top, cell, cell * T);
    }

    const cellAt = (event) => {
      const box = canvas.getBoundingClientRect();
      const s = Math.floor((event.clientX - box.left - grid.left) / grid.cell);
      const t = Math.floor((event.clientY - box.top - grid.top) / grid.cell);
      const inside = s >= 0 && t >= 0 && s < picture.source.length && t < picture.target.length;
      return inside ? { t, s } : null;
    };
    const same = (a, b) => a === b || (a && b && a.t === b.t && a.s === b.s && a.side === b.side);
    canvas.addEventListener('pointermove', (event) => {
      const cell = cellAt(event);
      if (!same(cell, state.active)) { state.pinned = null; activate(cell); }
    });
    canvas.addEventListener('pointerdown', (event) => activate(cellAt(event)));
    canvas.addEventListener('pointerleave', (event) => event.pointerType !== 'touch' && activate(null));
    canvas.addEventListener('blur', () => activate(null));
    canvas.addEventListener('keydown', (event) => {
      const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
      if (event.key === 'Escape') activate(null);
      if (!step) return;
      event.preventDefault();
      const from = state.active && state.active.t !== undefined ? state.active : { t: 0, s: 0 };
      const clamp = (x, n) => Math.max(0, Math.min(n - 1, x));
      const moved = state.active && state.active.t !== undefined ? step : [0, 0];
      activate({ t: clamp(from.t + moved[0], picture.target.length), s: clamp(from.s + moved[1], picture.source.length) });
    });

    Fovea.onTheme(() => { if (picture) { drawMap(); light(); } });
    let width = 0;
    new ResizeObserver(() => {
      if (root.clientWidth === width || !picture) return;
      width = root.clientWidth;
      drawMap();
      drawLines();
      placeBands();
    }).observe(root);
    set(pictures);
    return { set, show, choose, state };
  };
})();
