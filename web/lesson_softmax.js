// Score, softmax, weighted sum: four scores to drag, their weights, and the mean they make of four values.
(function () {
  'use strict';
  const { make } = Fovea;
  Fovea.lesson({
    id: 'softmax', formula: 'w_j = exp(s_j) / Σ_k exp(s_k)      c = Σ_j w_j v_j',
    words: {
      en: {
        title: 'Score, softmax, weighted sum',
        lead: ['Attention is three small steps. Each word gets a score: how well does it answer the question? The softmax turns scores into weights, positive and together 1. The weights make one vector of all values: what was read.',
          'Drag the scores, and the values in the plane. The context c always lies among the values, nearest to those with the largest weights.'],
        words: ['look', 'kitten', 'it', 'cute'], score: (word) => `Score of “${word}”`, weights: 'Weights', context: 'Context', values: 'Values and context', sum: 'Sum of the weights',
        question: {
          ask: 'All four scores grow by 1. What happens to the weights?',
          choices: ['All grow', 'The largest grows, the others shrink', 'Nothing'], right: 2,
          because: 'Every exp(s) is multiplied by the same e, which cancels. Programs use this: they take the largest score from all before the exponential, so that nothing overflows.',
          hint: 'Move all four sliders by the same amount and watch the bars.',
        },
      },
      zh: {
        title: '分数、softmax、加权和',
        lead: ['注意力只有三小步。每个词得一个分数：它与问题有多相配？softmax 把分数变成权重：都为正，总和为 1。权重再把所有的值合成一个向量：读到的内容。',
          '拖动分数，以及平面里的值。上下文 c 总在各个值之间，离权重最大的最近。'],
        words: ['看', '小猫', '它', '可爱'], score: (word) => `“${word}”的分数`, weights: '权重', context: '上下文', values: '值和上下文', sum: '权重之和',
        question: {
          ask: '四个分数都加 1，权重会怎样？',
          choices: ['都变大', '最大的变大，其余变小', '不变'], right: 2,
          because: '每个 exp(s) 都乘了同一个 e，约掉了。程序正利用这一点：取指数前先都减去最大的分数，防止溢出。',
          hint: '把四个滑块移动同样的量，看看那些条。',
        },
      },
    },
    draw({ w }) {
      const scores = [1, 3, 0.5, 2];
      const values = [[-2, 1], [2, 1.5], [-1, -2], [1.5, -1]];
      const weights = make('div', {});
      const out = make('output', { class: 'numbers' });
      const plane = Fovea.plane({
        name: w.values, vectors: [...values.map((at, i) => ({ name: w.words[i], at })), { name: 'c', at: [0, 0], fixed: true }],
        onmove: (i, at) => { values[i] = at; compute(); },
      });
      const sliders = scores.map((value, i) => Fovea.draw.slider({ name: w.score(w.words[i]), min: -4, max: 4, step: 0.1, value, oninput: (v) => { scores[i] = v; compute(); } }));
      function compute() {
        const list = Fovea.math.softmax(scores);
        const context = Fovea.math.weighted(list, values);
        Fovea.draw.bars(weights, list.map((value, i) => ({ name: w.words[i], value, text: Fovea.draw.number(value, 3) })));
        plane.set([null, null, null, null, context]);
        out.textContent = `c = ${list.map((x, i) => `${Fovea.draw.number(x)}·(${values[i].map((v) => Fovea.draw.number(v, 2)).join(', ')})`).join(' + ')} = (${context.map((v) => Fovea.draw.number(v)).join(', ')})`;
      }
      compute();
      return make('div', { class: 'two' }, make('div', {}, ...sliders.map((one) => one.element), Fovea.draw.box(w.weights, weights)),
        Fovea.draw.box(w.values, plane.element, out));
    },
  });
})();
