import { dictionary } from '../../lib/language.js';

export const stepsWords = dictionary('lessons.steps', {
  en: {
    title: 'Bahdanau’s steps and Luong’s',
    lead: [
      'Two decoders learn to translate small English sentences into ' +
        'French. At every step each compares a state with the encoder’s ' +
        'states, turns the scores into weights, reads the context they ' +
        'make, and writes a word.',
      'Bahdanau (2015) asks with the state from before the step, and the ' +
        'context enters the new state. Luong (2015) makes the new state ' +
        'first and asks with that one. Move through the steps, and change ' +
        'the sentence.',
    ],
    form: 'Decoder',
    forms: { bahdanau: 'Bahdanau', luong: 'Luong' },
    sentence: 'English',
    step: 'Step of the output',
    output: 'French',
    end: 'end',
    start: 'start',
    states: 'The encoder’s states h, one for each word',
    scores: 'Scores e',
    weights: 'Weights α = softmax(e)',
    context: 'Context c = Σ α h',
    state: 'State s',
    next: 'The next word',
    reads: (fed, word) => `“${fed}” is read, “${word}” is written.`,
    right: (b, l) =>
      `Correct words on unseen sentences: Bahdanau ${b}, Luong ${l}.`,
    question: {
      ask: 'Which state of the decoder is the query in Luong’s form?',
      choices: [
        'The one before this step',
        'The one that this step has just made',
        'The encoder’s last one',
      ],
      right: 1,
      because:
        'Luong updates the state first and attends with it; Bahdanau attends with the one before and updates then.',
      hint: 'Switch between the two decoders: in which order are the boxes?',
    },
  },
  zh: {
    title: 'Bahdanau 的步骤与 Luong 的步骤',
    lead: [
      '两个解码器学习把简短的英语句子译成法语。每一步，' +
        '它们都用一个状态去和编码器的各个状态比较，把分数变成权重，' +
        '读出合成的上下文，再写出一个词。',
      'Bahdanau（2015）用这一步之前的状态去问，上下文进入新状态。' +
        'Luong（2015）先算出新状态，再用它去问。逐步移动，并改一改句子。',
    ],
    form: '解码器',
    forms: { bahdanau: 'Bahdanau', luong: 'Luong' },
    sentence: '英语',
    step: '输出的第几步',
    output: '法语',
    end: '句末',
    start: '起点',
    states: '编码器的状态 h，每个词一个',
    scores: '分数 e',
    weights: '权重 α = softmax(e)',
    context: '上下文 c = Σ α h',
    state: '状态 s',
    next: '下一个词',
    reads: (fed, word) => `读入“${fed}”，写出“${word}”。`,
    right: (b, l) => `在没见过的句子上词的正确率：Bahdanau ${b}，Luong ${l}。`,
    question: {
      ask: '在 Luong 的形式里，解码器的哪个状态是查询？',
      choices: ['这一步之前的', '这一步刚算出的', '编码器最后的'],
      right: 1,
      because:
        'Luong 先更新状态再去关注；Bahdanau 用之前的状态关注，然后才更新。',
      hint: '在两个解码器之间切换：各个方框的顺序如何？',
    },
  },
});
