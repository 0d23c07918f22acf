import { dictionary } from '../lib/language.js';

export const changesWords = dictionary('changes', {
  en: {
    change: 'Change the model',
    cut: 'Remove this edge',
    force: 'Force this edge',
    mask: (t) => `Hide ${t}`,
    silence: 'Silence this head',
    uniform: 'Uniform weights',
    undo: 'Undo all',
    changes: {
      cut: (q, k) => `${q} ✂ ${k}`,
      force: (q, k) => `${q} ⇒ ${k}`,
      mask: (t) => `${t} hidden`,
      silence: (l, h) => `layer ${l} head ${h} silent`,
      uniform: (l, h) => `layer ${l} head ${h} uniform`,
    },
    changeHint:
      'Select a cell of the map, a word or a head to change it: the ' +
      'translation follows.',
    remove: (what) => `Undo: ${what}`,
  },
  zh: {
    change: '改动模型',
    cut: '移除这条边',
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
    changeHint: '选择热图中的一格、一个词或一个头，再改动它：译文随之变化。',
    remove: (what) => `撤销：${what}`,
  },
});
