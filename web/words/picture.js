import { dictionary } from '../lib/language.js';

export const pictureWords = dictionary('picture', {
  en: {
    lead: 'Point at a word to see what it attended to',
    hint: 'Point at a word to see what it attended to.',
    attended: (word, share, row, column) =>
      `${word}: ${share} % at row ${row}, column ${column} of the regions`,
  },
  zh: {
    lead: '指向一个词，看它关注了图片的哪里',
    hint: '指向一个词，看它关注了图片的哪里。',
    attended: (word, share, row, column) =>
      `“${word}”：${share} % 在第 ${row} 行第 ${column} 列的区域`,
  },
});
