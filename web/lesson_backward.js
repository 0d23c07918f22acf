// The backward pass of one attention in numbers, and what following it does.
(function () {
  'use strict';
  const { make } = Fovea;
  const START = { q: [1, 0.5], keys: [[1, 1], [-1, 1], [0.5, -1.5]], values: [[1], [2], [-1]], target: 2 };
  Fovea.lesson({
    id: 'backward', formula: 'dL/dc = c − y    dw_j = dc·v_j    ds_j = w_j (dw_j − Σ_k w_k dw_k)    dq = Σ_j ds_j k_j / √d    dk_j = ds_j q / √d    dv_j = w_j dc',
    words: {
      en: {
        title: 'Training: the backward pass in numbers',
        lead: ['Training changes every number a little so that the loss falls. How much each one matters is its gradient, found by going backwards through the same steps: from the loss to the context, to the weights, to the scores, to query, keys and values.',
          'One query, three keys of two numbers, values of one number. The context c should become the target y; the loss is half of (c − y)². Drag anything, then take steps against the gradient.'],
        target: 'Target y', rate: 'Learning rate', step: 'One step', ten: 'Ten steps', reset: 'Start again', plane: 'Query and keys', forward: 'Forward', back: 'Backward',
        names: { score: 'score s', weight: 'weight w', value: 'value v', dweight: 'dL/dw', dscore: 'dL/ds', dvalue: 'dL/dv', dkey: 'dL/dk' }, key: (i) => `key ${i}`,
        loss: 'Loss', steps: 'steps', sums: (c, y, l) => `c = ${c}    y = ${y}    L = ½ (c − y)² = ${l}`, dq: (v) => `dL/dq = (${v})`, dc: (v) => `dL/dc = c − y = ${v}`,
        question: {
          ask: 'Two weights are 0.5 and 0.5, and dL/dw is (1, −1). What is dL/ds of the first score?', number: 0.5,
          because: '0.5 · (1 − (0.5 · 1 + 0.5 · (−1))) = 0.5 · (1 − 0) = 0.5.',
          hint: 'ds₁ = w₁ (dw₁ − Σ w dw). What is the sum here?',
        },
      },
      zh: {
        title: '训练：反向传播的数字',
        lead: ['训练把每个数都改一点点，让损失下降。每个数有多重要，就是它的梯度；沿着同样的步骤倒着走就能求出：从损失到上下文，到权重，到分数，再到查询、键和值。',
          '一个查询，三个键各两个数，值各一个数。上下文 c 应当变成目标 y；损失是 (c − y)² 的一半。随意拖动，再沿梯度的反方向走几步。'],
        target: '目标 y', rate: '学习率', step: '走一步', ten: '走十步', reset: '重新开始', plane: '查询和键', forward: '前向', back: '反向',
        names: { score: '分数 s', weight: '权重 w', value: '值 v', dweight: 'dL/dw', dscore: 'dL/ds', dvalue: 'dL/dv', dkey: 'dL/dk' }, key: (i) => `键 ${i}`,
        loss: '损失', steps: '步数', sums: (c, y, l) => `c = ${c}    y = ${y}    L = ½ (c − y)² = ${l}`, dq: (v) => `dL/dq = (${v})`, dc: (v) => `dL/dc = c − y = ${v}`,
        question: {
          ask: '两个权重是 0.5 和 0.5，dL/dw 是 (1, −1)。第一个分数的 dL/ds 是多少？', number: 0.5,
          because: '0.5 · (1 − (0.5 · 1 + 0.5 · (−1))) = 0.5 · (1 − 0) = 0.5。',
          hint: 'ds₁ = w₁ (dw₁ − Σ w dw)。这里的和是多少？',
        },
      },
    },
    draw({ w }) {
      const { number } = Fovea.draw;
      let state = structuredClone(START);
      let rate = 0.3;
      let losses = [];
      const sums = make('output', { class: 'numbers' });
      const back = make('output', { class: 'numbers' });
      const forwardTable = make('div', {});
      const backTable = make('div', {});
      const curve = make('div', {});
      const vectors = () => [{ name: 'q', at: state.q }, ...state.keys.map((at, i) => ({ name: `k${i + 1}`, at }))];
      const plane = Fovea.plane({ name: w.plane, vectors: vectors(), onmove: (i, at) => { if (i === 0) state.q = at; else state.keys[i - 1] = at; losses = []; show(); } });
      const target = Fovea.draw.slider({ name: w.target, min: -2, max: 3, step: 0.1, value: state.target, oninput: (v) => { state.target = v; losses = []; show(); } });
      const speed = Fovea.draw.slider({ name: w.rate, min: 0.05, max: 1, step: 0.05, value: rate, show: (v) => number(v, 2), oninput: (v) => { rate = v; } });
      const compute = () => {
        const run = Fovea.math.attend('scaled-dot', state.q, state.keys, state.values);
        const apart = run.context[0] - state.target;
        return { ...run, apart, loss: 0.5 * apart * apart, grads: Fovea.math.backward(state.q, state.keys, state.values, [apart]) };
      };
      function descend(count) {
        for (let i = 0; i < count; ++i) {
          const { grads } = compute();
          const less = (list, by) => list.map((x, d) => x - rate * by[d]);
          state = { ...state, q: less(state.q, grads.query), keys: state.keys.map((k, j) => less(k, grads.key[j])), values: state.values.map((v, j) => less(v, grads.value[j])) };
          losses.push(compute().loss);
        }
        plane.set([state.q, ...state.keys]);
        show();
      }
      function show() {
        const now = compute();
        if (losses.length === 0) losses = [now.loss];
        const columns = state.keys.map((_, i) => w.key(i + 1));
        const pair = (v) => v.map((x) => number(x)).join(', ');
        sums.textContent = w.sums(number(now.context[0], 3), number(state.target, 1), number(now.loss, 4));
        back.textContent = `${w.dc(number(now.apart, 3))}    ${w.dq(pair(now.grads.query))}`;
        const { names } = w;
        forwardTable.replaceChildren(Fovea.draw.heat({ rows: [names.score, names.weight, names.value], columns, values: [now.scores, now.weights, state.values.map((v) => v[0])], most: 2 }));
        const row = (name, cells) => make('tr', {}, make('th', { scope: 'row' }, name), ...cells.map((text) => make('td', {}, text)));
        backTable.replaceChildren(Fovea.draw.heat({ rows: [names.dweight, names.dscore, names.dvalue], columns, values: [now.grads.dweights, now.grads.dscores, now.grads.value.map((v) => v[0])], most: 2, digits: 3 }),
          make('div', { class: 'heat-scroll' }, make('table', { class: 'facts' }, make('tbody', {}, row(names.dkey, now.grads.key.map((v) => `(${pair(v)})`))))));
        curve.replaceChildren(...(losses.length > 1 ? [Fovea.draw.chart({ series: [{ name: w.loss, points: losses.map((loss, i) => [i, loss]) }], x: w.steps, y: w.loss })] : []));
      }
      const button = (text, go, cls) => make('button', { type: 'button', class: cls, onclick: go }, text);
      show();
      return make('div', { class: 'two' },
        make('div', {}, Fovea.draw.box(w.plane, plane.element), target.element, speed.element,
          make('div', { class: 'controls' }, button(w.step, () => descend(1), 'primary step-one'), button(w.ten, () => descend(10), 'step-ten'), button(w.reset, () => { state = structuredClone(START); losses = []; target.set(state.target); plane.set([state.q, ...state.keys]); show(); }, 'reset'))),
        make('div', {}, Fovea.draw.box(w.forward, sums, forwardTable), Fovea.draw.box(w.back, back, backTable), curve));
    },
  });
})();
