import { dictionary } from '../lib/language.js';

export const changesWords = dictionary('changes', {
  en: {
    change: 'Change the model',
    cut: 'Cut this edge',
    force: 'Force this edge',
    mask: (t) => `Hide ${t}`,
    silence: 'Silence this head',
    uniform: 'Even weights',
    undo: 'Undo all',
    changes: {
      cut: (q, k) => `${q} ✂ ${k}`,
      force: (q, k) => `${q} ⇒ ${k}`,
      mask: (t) => `${t} hidden`,
      silence: (l, h) => `layer ${l} head ${h} silent`,
      uniform: (l, h) => `layer ${l} head ${h} even`,
    },
    changeHint:
      'Keep an edge of the map, a word or a head, then change it: the translation follows at once.',
    remove: (what) => `Undo: ${what}`,
  },
  zh: {
    change: '改动模型',
    cut: '切断这条边',
    force: '强制这条边',
    mask: (t) => `遮住“${t}”`,
    silence: '静音这个头',
    uniform: '权重取平均',
    undo: '全部撤销',
    changes: {
      cut: (q, k) => `${q} ✂ ${k}`,
      force: (q, k) => `${q} ⇒ ${k}`,
      mask: (t) => `遮住“${t}”`,
      silence: (l, h) => `第 ${l} 层头 ${h} 静音`,
      uniform: (l, h) => `第 ${l} 层头 ${h} 平均`,
    },
    changeHint:
      '固定热图中的一格、一个词或一个头，再改动它：译文立即随之变化。',
    remove: (what) => `撤销：${what}`,
  },
});
