import { dictionary } from '../../lib/language.js';

export const fixedWords = dictionary('lessons.fixed', {
  en: {
    title: 'Why one vector is not enough',
    lead: [
      'An encoder-decoder without attention reads a line, keeps one ' +
        'vector of fixed size, and writes from that alone. Whatever the ' +
        'length of the line, all of it must fit in there.',
      'Two recurrent networks of the same width learn to repeat a line ' +
        'of letters. The second may look back at every letter while it ' +
        'writes: that is attention.',
    ],
    length: 'Length of the line',
    line: 'A line of letters',
    plain: 'One vector',
    attention: 'With attention',
    right: 'Letters repeated correctly',
    letters: 'letters in the line',
    map: 'What each output letter attended to',
    end: 'end',
    question: {
      ask: 'A line becomes twice as long. How many numbers about it does the decoder without attention get?',
      choices: ['Twice as many', 'As many as before', 'Half as many'],
      right: 1,
      because:
        'One vector of fixed size, however long the line is; with ' +
        'attention there is a state for every letter to look back at.',
      hint: 'Think of what the encoder hands over: is it one vector, or one for every letter?',
    },
  },
  zh: {
    title: '为什么一个向量不够',
    lead: [
      '没有注意力的编码器-解码器读完一行，只留下一个固定大小的向量，' +
        '再只凭它来写。不论这一行多长，全部内容都得装进去。',
      '两个同样宽的循环网络学习重复一行字母。' +
        '第二个在写的时候可以回头看每一个字母：这就是注意力。',
    ],
    length: '这一行的长度',
    line: '一行字母',
    plain: '一个向量',
    attention: '有注意力',
    right: '重复正确的字母',
    letters: '一行的字母数',
    map: '每个写出的字母关注了什么',
    end: '句末',
    question: {
      ask: '一行变成两倍长。没有注意力的解码器得到的关于它的数有多少？',
      choices: ['两倍', '和原来一样多', '一半'],
      right: 1,
      because:
        '不论一行多长，都只有一个固定大小的向量；有注意力时，' +
        '每个字母都有一个状态可以回头看。',
      hint: '想一想编码器交出的是什么：一个向量，还是每个字母一个？',
    },
  },
});
