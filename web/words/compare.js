import { dictionary } from '../lib/language.js';

export const compareWords = dictionary('compare', {
  en: {
    titles: {
      checkpoints: 'One sentence during training',
      models: 'One sentence, several models',
      scores: 'One sentence with five score functions',
    },
    comparedWith: 'Compare with',
    writes: (text) => `writes: ${text}`,
  },
  zh: {
    titles: {
      checkpoints: '一个句子，训练过程中的注意力',
      models: '一个句子，几个模型',
      scores: '一个句子，五种打分函数',
    },
    comparedWith: '与之对照',
    writes: (text) => `自己写出：${text}`,
  },
});
