import { dictionary } from '../lib/language.js';

export const classifyWords = dictionary('classify', {
  en: {
    tab: 'Classify',
    tagline: 'Classify, and see which words decided',
    labels: 'Labels',
    decided: 'Decisive words',
    labelsYet: 'The labels appear here as you write.',
    noClassifier: 'The server has no classifier.',
    noWords: 'The text has no words to classify.',
    moreLabels: (n) => `and ${n} less likely ones`,
    attentionNote:
      'how much each word was attended to, the same for all labels',
    saliencyOf: (label) => `Saliency for ${label}`,
    saliencyNote: 'words that count for it (blue) and against it (orange)',
    attention: 'Attention',
    leadOne: 'What decided on the label',
    lead: (n) => `What decided on the labels of ${n} texts`,
  },
  zh: {
    tab: '分类',
    tagline: '分类，并查看哪些词起了作用',
    labels: '类别',
    decided: '起作用的词',
    labelsYet: '输入时，类别会显示在这里。',
    noClassifier: '服务器上没有可用于分类的模型。',
    noWords: '这段文字里没有可分类的词。',
    moreLabels: (n) => `以及 ${n} 个可能性更小的类别`,
    attentionNote: '每个词受到的关注，与类别无关',
    saliencyOf: (label) => `“${label}”的显著性`,
    saliencyNote: '支持（蓝）与反对（橙）它的词',
    attention: '注意力',
    leadOne: '什么决定了类别',
    lead: (n) => `什么决定了 ${n} 段文字的类别`,
  },
});
