import { dictionary } from '../lib/language.js';

export const translateWords = dictionary('translate', {
  en: {
    tab: 'Translate',
    tagline: 'Translate, and see what the model attended to',
    attention: 'Attention',
    explain: 'In numbers',
    explainHint: 'The numbers of this model, step by step',
    close: 'Close',
    choose: 'Show this translation',
    fileCut: (n) =>
      `The first ${n} characters of the file; the rest exceeds the limit of this page.`,
    from: 'From',
    to: 'To',
    swap: 'Swap languages',
    detect: 'Detect language',
    detected: (name) => `Detected: ${name}`,
    translation: 'Translation',
    copy: 'Copy translation',
    copied: 'Copied',
    alternatives: 'Other translations',
    words: 'Words',
    pieces: 'Subwords',
    unit: 'What counts as one token',
    nothingYet: 'The translation appears here as you write.',
    noModel: 'The server has no translation model.',
    same: 'The text has no words to translate.',
    tooLong: (kb) =>
      `Attention is shown for texts of at most ${kb} KB; this text is longer.`,
    listed: (top, parts) =>
      'Long text: ' +
      (parts > 1 ? `${parts} parts of whole sentences, ` : '') +
      (top === 1 ? 'the largest weight' : `the ${top} largest weights`) +
      ' of each subword',
    onlyMean: 'Long text: the mean of all heads.',
  },
  zh: {
    tab: '翻译',
    tagline: '翻译，并查看模型的注意力',
    attention: '注意力',
    explain: '看数字',
    explainHint: '此模型的数字，一步一步',
    close: '关闭',
    choose: '显示这个译文',
    fileCut: (n) => `文件的前 ${n} 个字符；其余部分超出本页的限度。`,
    from: '从',
    to: '到',
    swap: '交换语言',
    detect: '检测语言',
    detected: (name) => `检测到：${name}`,
    translation: '译文',
    copy: '复制译文',
    copied: '已复制',
    alternatives: '其他译法',
    words: '词',
    pieces: '子词',
    unit: '词或子词',
    nothingYet: '输入时，译文会显示在这里。',
    noModel: '服务器上没有可用于翻译的模型。',
    same: '这段文字里没有可翻译的词。',
    tooLong: (kb) => `最多显示 ${kb} KB 文字的注意力；这段更长。`,
    listed: (top, parts) =>
      '长文：' +
      (parts > 1 ? `分为 ${parts} 个由完整句子组成的部分，` : '') +
      `每个子词的 ${top} 个最大权重`,
    onlyMean: '文字较长：显示所有头的平均。',
  },
});
