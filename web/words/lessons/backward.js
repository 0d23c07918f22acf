import { dictionary } from '../../lib/language.js';

export const backwardWords = dictionary('lessons.backward', {
  en: {
    title: 'Training: the backward pass in numbers',
    lead: [
      'Training changes every number a little so that the loss falls. ' +
        'How much each one matters is its gradient, found by going ' +
        'backwards through the same steps: from the loss to the context, ' +
        'to the weights, to the scores, to query, keys and values.',
      'One query, three keys of two numbers, values of one number. The ' +
        'context c should become the target y; the loss is half of (c − ' +
        'y)². Drag anything, then take steps against the gradient.',
    ],
    target: 'Target y',
    rate: 'Learning rate',
    step: 'One step',
    ten: 'Ten steps',
    reset: 'Start again',
    plane: 'Query and keys',
    forward: 'Forward',
    back: 'Backward',
    names: {
      score: 'score s',
      weight: 'weight w',
      value: 'value v',
      dweight: 'dL/dw',
      dscore: 'dL/ds',
      dvalue: 'dL/dv',
      dkey: 'dL/dk',
    },
    key: (i) => `key ${i}`,
    loss: 'Loss',
    steps: 'steps',
    sums: (c, y, l) => `c = ${c}    y = ${y}    L = ½ (c − y)² = ${l}`,
    dq: (v) => `dL/dq = (${v})`,
    dc: (v) => `dL/dc = c − y = ${v}`,
    question: {
      ask: 'Two weights are 0.5 and 0.5, and dL/dw is (1, −1). What is dL/ds of the first score?',
      number: 0.5,
      because: '0.5 · (1 − (0.5 · 1 + 0.5 · (−1))) = 0.5 · (1 − 0) = 0.5.',
      hint: 'ds₁ = w₁ (dw₁ − Σ w dw). What is the sum here?',
    },
  },
  zh: {
    title: '训练：反向传播的数字',
    lead: [
      '训练把每个数都改一点点，让损失下降。每个数有多重要，就是它的梯度；' +
        '沿着同样的步骤倒着走就能求出：从损失到上下文，到权重，到分数，' +
        '再到查询、键和值。',
      '一个查询，三个键各两个数，值各一个数。上下文 c 应当变成目标 y；' +
        '损失是 (c − y)² 的一半。随意拖动，再沿梯度的反方向走几步。',
    ],
    target: '目标 y',
    rate: '学习率',
    step: '走一步',
    ten: '走十步',
    reset: '重新开始',
    plane: '查询和键',
    forward: '前向',
    back: '反向',
    names: {
      score: '分数 s',
      weight: '权重 w',
      value: '值 v',
      dweight: 'dL/dw',
      dscore: 'dL/ds',
      dvalue: 'dL/dv',
      dkey: 'dL/dk',
    },
    key: (i) => `键 ${i}`,
    loss: '损失',
    steps: '步数',
    sums: (c, y, l) => `c = ${c}    y = ${y}    L = ½ (c − y)² = ${l}`,
    dq: (v) => `dL/dq = (${v})`,
    dc: (v) => `dL/dc = c − y = ${v}`,
    question: {
      ask: '两个权重是 0.5 和 0.5，dL/dw 是 (1, −1)。第一个分数的 dL/ds 是多少？',
      number: 0.5,
      because: '0.5 · (1 − (0.5 · 1 + 0.5 · (−1))) = 0.5 · (1 − 0) = 0.5。',
      hint: 'ds₁ = w₁ (dw₁ − Σ w dw)。这里的和是多少？',
    },
  },
});
