import { dictionary } from '../../lib/language.js';

export const softmaxWords = dictionary('lessons.softmax', {
  en: {
    title: 'Score, softmax, weighted sum',
    lead: [
      'Attention is three small steps. Each word gets a score: how well ' +
        'does it answer the question? The softmax turns scores into ' +
        'weights, positive and together 1. The weights make one vector of ' +
        'all values: what was read.',
      'Drag the scores, and the values in the plane. The context c is a ' +
        'weighted mean of the values, so it always lies in their convex hull.',
    ],
    words: ['look', 'kitten', 'it', 'cute'],
    score: (word) => `Score of “${word}”`,
    weights: 'Weights',
    context: 'Context',
    values: 'Values and context',
    sum: 'Sum of the weights',
    question: {
      ask: 'All four scores grow by 1. What happens to the weights?',
      choices: ['All grow', 'The largest grows, the others shrink', 'Nothing'],
      right: 2,
      because:
        'Every exp(s) is multiplied by the same e, which cancels. Programs ' +
        'use this: they subtract the largest score from all before the ' +
        'exponential, so that nothing overflows.',
      hint: 'Move all four sliders by the same amount and watch the bars.',
    },
  },
  zh: {
    title: '分数、softmax、加权和',
    lead: [
      '注意力只有三小步。每个词得一个分数：它与问题有多相配？softmax ' +
        '把分数变成权重：都为正，总和为 1。权重再把所有的值合成一个向量：' +
        '读到的内容。',
      '拖动分数，以及平面里的值。上下文 c 是各个值的加权平均，总在它们的凸包之内。',
    ],
    words: ['看', '小猫', '它', '可爱'],
    score: (word) => `“${word}”的分数`,
    weights: '权重',
    context: '上下文',
    values: '值和上下文',
    sum: '权重之和',
    question: {
      ask: '四个分数都加 1，权重会怎样？',
      choices: ['都变大', '最大的变大，其余变小', '不变'],
      right: 2,
      because:
        '每个 exp(s) 都乘了同一个 e，约掉了。程序正利用这一点：' +
        '取指数前先都减去最大的分数，防止溢出。',
      hint: '把四个滑块移动同样的量，看看那些条。',
    },
  },
});
