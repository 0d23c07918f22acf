import { dictionary } from '../../lib/language.js';

export const encodersWords = dictionary('lessons.encoders', {
  en: {
    title: 'Three encoders',
    lead: [
      'An encoder gives every word a state that depends on its neighbours. ' +
        'A recurrent network (RNN) carries what it has read from word to ' +
        'word, in both directions. A convolution (CNN) sees a window: here ' +
        'one layer of three words. A Transformer lets every word attend to ' +
        'every other.',
      'All three are trained on the same sentences with the same ' +
        'decoder. Then one word is swapped for another: how much does each ' +
        'state change? Choose the word.',
    ],
    sentence: 'English',
    word: 'Word that is swapped',
    names: { rnn: 'RNN', cnn: 'CNN', transformer: 'Transformer' },
    change: 'Change of each state, relative to the largest',
    all: 'Every word (row) and every state (column)',
    end: 'end',
    table: 'After the training',
    right: 'correct words',
    seconds: 'seconds',
    weights: 'weights',
    output: 'French',
    question: {
      ask: 'The first word of a line of seven changes. Whose state at the last word does not change at all?',
      choices: ['The RNN’s', 'The one-layer CNN’s', 'The Transformer’s'],
      right: 1,
      because:
        'Its window is three words wide. More layers widen it; the RNN ' +
        'passes everything on, and in a Transformer every pair is one step ' +
        'apart.',
      hint: 'Set the slider to the first word and look at the right end of the bars.',
    },
  },
  zh: {
    title: '三种编码器',
    lead: [
      '编码器给每个词一个状态，其中包含邻近词的信息。' +
        '循环网络（RNN）把读到的内容从一个词传到下一个词，两个方向都传。' +
        '卷积（CNN）看一个窗口：这里是一层、三个词。Transformer ' +
        '让每个词关注所有其他词。',
      '三者用同样的句子和同样的解码器训练。然后把一个词换成另一个：' +
        '每个状态变化多少？选一个词。',
    ],
    sentence: '英语',
    word: '被替换的词',
    names: { rnn: 'RNN', cnn: 'CNN', transformer: 'Transformer' },
    change: '每个状态的变化，相对于最大值',
    all: '每个词（行）对每个状态（列）',
    end: '句末',
    table: '训练之后',
    right: '词的正确率',
    seconds: '秒',
    weights: '权重个数',
    output: '法语',
    question: {
      ask: '七个词的一行，第一个词变了。哪种编码器在最后一个词的状态完全不变？',
      choices: ['RNN', '一层的 CNN', 'Transformer'],
      right: 1,
      because:
        '它的窗口只有三个词宽。层数多了窗口会变宽；RNN 会一路传下去，' +
        'Transformer 里任意两个词只隔一步。',
      hint: '把滑块移到第一个词，看条的右端。',
    },
  },
});
