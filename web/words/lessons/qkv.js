import { dictionary } from '../../lib/language.js';

export const qkvWords = dictionary('lessons.qkv', {
  en: {
    title: 'Q, K, V: a sentence reads itself',
    lead: [
      '看小猫，它好可爱: look, the kitten, it is so cute. What is “it”? ' +
        'In self-attention every word asks the others: its query is ' +
        'compared with every word’s key, and it reads their values by the ' +
        'weights. All three are learned maps of the word’s own vector.',
      'A Transformer of two layers with one head learns to say what 它 ' +
        'stands for, in sentences with two of these: an animal, a piece of ' +
        'furniture, a fruit. Cute is the animal, sturdy the furniture, ' +
        'fresh the fruit. Choose a word to see its query, and change the ' +
        'sentence.',
    ],
    sentence: 'Sentence',
    layer: 'Layer',
    layerName: (i) => `Layer ${i}`,
    ask: 'Query word',
    query: (word) => `Query of ${word}`,
    keys: 'Keys of all words',
    scores: 'Scores q·k / √d',
    weights: 'Weights',
    values: 'Values of all words',
    read: 'Output: Σ weight · value',
    means: '它 stands for',
    right: (p) => `Correct on new sentences: ${p}.`,
    gloss: true,
    map: 'All weights: a row for each query',
    question: {
      ask:
        'In 小猫在桌子旁边，它好可爱 (the kitten is beside the table, it ' +
        'is so cute), 可爱 (cute) becomes 结实 (sturdy). Which word does ' +
        '它 find now?',
      choices: ['小猫 (kitten)', '桌子 (table)', '旁边 (beside)'],
      right: 1,
      because:
        'Only a table is sturdy. In this model the first layer reads ' +
        'the adjective of 它, and in the second 它 finds the noun that fits ' +
        'it; a model with another random seed may divide the work in ' +
        'another way.',
      hint: 'Choose that sentence, look at what 它 stands for, and at its weights in layer 2.',
    },
  },
  zh: {
    title: 'Q、K、V：句子读自己',
    lead: [
      '看小猫，它好可爱。“它”是什么？在自注意力里，每个词都去问其他词：' +
        '它的查询与每个词的键比较，再按权重读取它们的值。' +
        '三者都是由词自己的向量经过学到的映射得到的。',
      '一个两层、单头的 Transformer 学习说出“它”指什么，句子里有动物、' +
        '家具、水果中的两样。可爱的是动物，结实的是家具，新鲜的是水果。' +
        '选一个词看它的查询，再改一改句子。',
    ],
    sentence: '句子',
    layer: '层',
    layerName: (i) => `第 ${i} 层`,
    ask: '哪个词在问？',
    query: (word) => `“${word}”的查询`,
    keys: '所有词的键',
    scores: '分数 q·k / √d',
    weights: '权重',
    values: '所有词的值',
    read: '读到的：Σ 权重 · 值',
    means: '“它”指的是',
    right: (p) => `在新句子上的正确率：${p}。`,
    gloss: false,
    map: '全部权重：每行是一个提问的词',
    question: {
      ask:
        '把“小猫在桌子旁边，它好可爱”里的“可爱”换成“结实”。' +
        '“它”现在找到哪个词？',
      choices: ['小猫', '桌子', '旁边'],
      right: 1,
      because:
        '只有桌子才结实。在这个模型里，第一层读出句子说“它”怎么样，' +
        '第二层里“它”找到相配的词；从别的初始值训练出的模型可能分工不同。',
      hint: '选那个句子，看“它”指什么，以及它在第 2 层的权重。',
    },
  },
});
