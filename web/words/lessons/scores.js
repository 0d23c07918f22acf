import { dictionary } from '../../lib/language.js';

export const scoresWords = dictionary('lessons.scores', {
  en: {
    title: 'The scores: dot, scaled dot, general, additive, cosine',
    lead: [
      'A score says how well a key answers a query. The dot product is ' +
        'the simplest: large where both point the same way and are long. ' +
        'Scaled, it is divided by the root of the width d, here 2. The ' +
        'general score (Luong) puts a learned matrix W between them: here ' +
        'it turns the key. The additive score (Bahdanau) is a small ' +
        'network. The cosine depends on the directions only.',
      'Drag the query and the keys by their tips.',
    ],
    plane: 'Query and keys',
    turn: 'W turns the key by',
    score: 'Score',
    formula: 'Formula',
    key: (i) => `k${i}`,
    names: {
      dot: 'dot',
      'scaled-dot': 'scaled dot',
      general: 'general',
      additive: 'additive',
      cosine: 'cosine',
    },
    scores: 'Scores',
    weights: 'Weights after the softmax',
    additive:
      'Here W and U are 1 on the diagonal and 0.5 elsewhere, and v is (1, 1).',
    question: {
      ask: 'A key becomes twice as long in the same direction. Which score stays the same?',
      choices: ['dot', 'scaled dot', 'general', 'cosine'],
      right: 3,
      because:
        'The cosine divides by both lengths. The other scores double, ' +
        'except the additive one, which changes less, since tanh ' +
        'saturates.',
      hint: 'Pull a key further out along its own direction and compare the rows of the table.',
    },
  },
  zh: {
    title: '几种分数：点积、缩放点积、general、加性、余弦',
    lead: [
      '分数说明一个键与一个查询有多相配。点积最简单：' +
        '方向一致且都长时就大。缩放点积再除以宽度 d（这里是 2）的平方根。' +
        'general（Luong）在两者之间放一个学到的矩阵 W：' +
        '这里它把键转一个角度。加性分数（Bahdanau）去问一个小网络。' +
        '余弦只看方向。',
      '拖动查询和键的箭头尖。',
    ],
    plane: '查询和键',
    turn: 'W 把键转动',
    score: '分数',
    formula: '公式',
    key: (i) => `k${i}`,
    names: {
      dot: '点积',
      'scaled-dot': '缩放点积',
      general: 'general',
      additive: '加性',
      cosine: '余弦',
    },
    scores: '分数',
    weights: 'softmax 之后的权重',
    additive: '这里 W 和 U 的对角线为 1，旁边为 0.5；v 为 (1, 1)。',
    question: {
      ask: '一个键沿同一方向变成两倍长。哪种分数不变？',
      choices: ['点积', '缩放点积', 'general', '余弦'],
      right: 3,
      because:
        '余弦除以了两者的长度。除加性以外的都翻倍；加性的变化越来越小，' +
        '因为 tanh 会变平。',
      hint: '沿着一个键自己的方向把它拉长，再比较表中各行。',
    },
  },
});
