import { dictionary } from '../lib/language.js';

export const captionWords = dictionary('caption', {
  en: {
    tab: 'Caption',
    tagline: 'Describe a picture, and see where each word came from',
    drop: 'Drop a picture here',
    choose: 'or choose one',
    another: 'Another picture',
    notYet: 'The caption appears here.',
    noCaptioner: 'The server has no caption model.',
    notAPicture: 'The browser cannot read this file as a picture.',
  },
  zh: {
    tab: '看图说话',
    tagline: '看图说话，并查看每个词来自哪里',
    drop: '把图片拖到这里',
    choose: '或选择一张',
    another: '换一张图片',
    notYet: '描述会显示在这里。',
    noCaptioner: '服务器没有看图说话的模型。',
    notAPicture: '浏览器无法把这个文件读作图片。',
  },
});
