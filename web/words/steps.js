import { dictionary } from '../lib/language.js';

export const stepsWords = dictionary('steps', {
  en: {
    play: 'Play',
    pause: 'Pause',
    stepBack: 'Previous step',
    stepOn: 'Next step',
    allSteps: 'All steps',
    stepOf: (i, n) => `${i} of ${n}`,
    training: 'Training',
    trained: 'trained',
    atStep: (n) => `after step ${n}`,
    trainingHint:
      'Move the slider or play to see what the model attended to during training.',
    stepWrites: (text, lp) =>
      `At this step the model writes: ${text} · log-probability of the translation above ${lp}`,
  },
  zh: {
    play: '播放',
    pause: '暂停',
    stepBack: '上一步',
    stepOn: '下一步',
    allSteps: '全部步骤',
    stepOf: (i, n) => `第 ${i} 步，共 ${n} 步`,
    training: '训练',
    trained: '训练完成',
    atStep: (n) => `第 ${n} 步之后`,
    trainingHint: '拖动或播放：此模型在训练过程中关注了什么。',
    stepWrites: (text, lp) =>
      `此时模型写出：${text} · 上面译文的对数概率 ${lp}`,
  },
});
