import { dictionary } from '../lib/language.js';

export const pageWords = dictionary('page', {
  en: {
    logProbability: (lp) => `log-probability ${lp}`,
    theme: 'Light or dark',
    otherLanguage: '中文',
  },
  zh: {
    logProbability: (lp) => `对数概率 ${lp}`,
    theme: '浅色或深色',
    otherLanguage: 'English',
  },
});
