import { dictionary } from '../../lib/language.js';

export const rootWords = dictionary('lessons.root', {
  en: {
    title: 'Why √d',
    lead: [
      'A dot product of d numbers is a sum of d terms. If each number of ' +
        'query and key has mean 0 and variance 1, the sum has variance d: ' +
        'the wider the model, the larger the scores. The softmax of large ' +
        'scores puts everything on one word, and there its slope is nearly ' +
        '0: nothing is learned any more.',
      'Drag the width. The query and the eight keys are random; the same ones are shown without and with the division.',
    ],
    width: 'Width d',
    seed: 'Other random numbers',
    raw: 'Weights of q·k',
    scaled: 'Weights of q·k / √d',
    key: (i) => `key ${i}`,
    measure: (n) => `Measured on ${n} random pairs`,
    deviation: 'standard deviation of the score',
    slope: 'slope of the softmax, Σ w (1 − w)',
    without: 'without',
    with: 'with √d',
    question: {
      ask:
        'Query and key have 64 numbers each, with mean 0 and variance 1. ' +
        'What is the standard deviation of their dot product?',
      number: 8,
      because: 'The variance is 64, its root is 8: exactly what √d divides by.',
      hint: 'The standard deviation is the root of the variance. Set the width to 64 and read the table.',
    },
  },
  zh: {
    title: '为什么除以 √d',
    lead: [
      'd 个数的点积是 d 项之和。如果查询和键的每个数均值为 0、方差为 1，' +
        '和的方差就是 d：模型越宽，分数越大。分数大时 softmax ' +
        '会全压在一个词上，那里的斜率几乎为 0：什么也学不到了。',
      '拖动宽度。查询和八个键都是随机的；同样的数分别显示除与不除的结果。',
    ],
    width: '宽度 d',
    seed: '换一批随机数',
    raw: 'q·k 的权重',
    scaled: 'q·k / √d 的权重',
    key: (i) => `键 ${i}`,
    measure: (n) => `在 ${n} 对随机向量上测得`,
    deviation: '分数的标准差',
    slope: 'softmax 的斜率 Σ w (1 − w)',
    without: '不除',
    with: '除以 √d',
    question: {
      ask: '查询和键各有 64 个数，均值为 0，方差为 1。它们点积的标准差是多少？',
      number: 8,
      because: '方差是 64，开方是 8：正是 √d 所除的数。',
      hint: '标准差是方差的平方根。把宽度设为 64，看看表格。',
    },
  },
});
