import { dictionary } from '../../lib/language.js';

export const headsWords = dictionary('lessons.heads', {
  en: {
    title: 'Many heads',
    lead: [
      'A head has one set of weights per word: it can look at one place, ' +
        'or at a blurred mix of several. Several heads look at several ' +
        'places at once, each in its own share of the width.',
      'Three small encoders, with one, two and four heads, learn the ' +
        'same task in the same number of steps: each letter names the ' +
        'letter before it, the letter after it and the first of the ' +
        'line: three places to look at. The task and the narrow width ' +
        'are chosen so that one head is too few; with more width one head ' +
        'can do it too. Silence heads and see which answers break.',
    ],
    heads: 'Heads',
    silent: 'Silence',
    head: (i) => `Head ${i}`,
    line: 'A line of letters a to e',
    before: 'before',
    behind: 'after',
    first: 'first in line',
    right: (list) => `Correct on new lines: ${list}.`,
    count: (n, p) => `${n} heads ${p}`,
    one: (p) => `1 head ${p}`,
    answers: 'The answers of each letter',
    letter: 'letter',
    edge: '–',
    asks: 'A row is a query: a letter that attends',
    question: {
      ask:
        'A model is 512 wide. It gets 8 heads instead of 1, with the same ' +
        'width. How does the number of weights in the maps to queries, ' +
        'keys and values change?',
      choices: [
        'It becomes 8 times as large',
        'It stays the same',
        'It becomes 8 times smaller',
      ],
      right: 1,
      because:
        'The same columns are shared out: 8 heads of width 64 are 512 columns, as one head of width 512 is.',
      hint: 'How wide is each head when the width is shared out among them?',
    },
  },
  zh: {
    title: '多头',
    lead: [
      '一个头对每个词只有一组权重：它能看一个地方，或几个地方模糊的混合。' +
        '几个头同时看几个地方，各用宽度的一份。',
      '三个小编码器，分别有一个、两个和四个头，' +
        '用同样多的步数学同一个任务：每个字母说出它前面是哪个字母、' +
        '后面是哪个字母、这一行以哪个字母开头：要看三个地方。' +
        '任务和很小的宽度是特意选的，使一个头不够用；宽度更大时，' +
        '一个头也能做到。让某些头静音，看哪些回答出错。',
    ],
    heads: '头数',
    silent: '静音',
    head: (i) => `头 ${i}`,
    line: '一行字母（a 到 e）',
    before: '前',
    behind: '后',
    first: '行首',
    right: (list) => `在新的一行上的正确率：${list}。`,
    count: (n, p) => `${n} 个头 ${p}`,
    one: (p) => `1 个头 ${p}`,
    answers: '每个字母的回答',
    letter: '字母',
    edge: '–',
    asks: '每行是一个提问的字母',
    question: {
      ask:
        '模型宽 512。同样的宽度，从 1 个头改成 8 个头，得到查询、' +
        '键和值的三个矩阵的权重个数怎样变？',
      choices: ['变成 8 倍', '不变', '变成八分之一'],
      right: 1,
      because:
        '同样的列分给各头：8 个宽 64 的头共 512 列，与一个宽 512 的头一样。',
      hint: '宽度分给各头之后，每个头有多宽？',
    },
  },
});
