import { dictionary } from '../lib/language.js';

export const beamWords = dictionary('beam', {
  en: {
    beam: 'Beam search',
    beamLead: (n, words) =>
      (words
        ? `Subwords joined to words; at each subword the ${n} best hypotheses ` +
          'went on, those dropped within a word are left out. '
        : `At each step the ${n} best hypotheses go on. `) +
      'Round: finished. Dashed: dropped later. Bold: the translation.',
    beamHint:
      'Point at a word, or move with the arrow keys, to follow its path.',
    beamNode: (text, p, lp) =>
      `${text} · this word ${p} · log-probability so far ${lp}`,
    finished: 'finished',
    dropped: 'dropped',
    best: 'on the best path',
  },
  zh: {
    beam: '束搜索',
    beamLead: (n, words) =>
      (words
        ? `子词已合并为词；每个子词处保留最好的 ${n} 个假设，` +
          '在词中被舍弃的不显示。'
        : `每一步保留最好的 ${n} 个假设。`) +
      '圆角：已结束。虚线：后来被舍弃。粗线：译文。',
    beamHint: '指向一个词，或用方向键移动，即可沿路径查看。',
    beamNode: (text, p, lp) => `${text} · 此词概率 ${p} · 累计对数概率 ${lp}`,
    finished: '已结束',
    dropped: '已舍弃',
    best: '位于最佳路径',
  },
});
