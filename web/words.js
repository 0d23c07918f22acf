// Every word the pages show, in English and Chinese. Fovea.words is the dictionary of the language chosen.
(function () {
  'use strict';
  const dictionaries = {
    en: {
      // attention as a picture
      sentence: 'Sentence', previous: 'Previous sentence', next: 'Next sentence', layer: 'Layer', head: 'Head',
      mean: 'mean', source: 'Source', target: 'Target', map: 'Heat map of the weights', end: 'end', turn: 'turn', unknown: 'unknown',
      attended: (t, list) => `${t} attended to ${list}`, received: (s, list) => `${s} was attended to by ${list}`,
      cell: (t, s, w) => `${t} attended to ${s} with weight ${w}`, nothing: 'nothing', empty: 'an empty line',
      copiedWords: 'underlined: copied from the source', copiedShare: (p) => `copied: ${p}`,
      hint: 'Point at a word, or move with the arrow keys, to see what it attended to. Enter keeps it.',
      heads: 'All heads: a row per layer, a column per head', allMean: 'Mean of all', layerMean: (l) => `Layer ${l}, mean`, headMean: (h) => `Head ${h}, mean`,
      oneHead: (l, h) => `Layer ${l}, head ${h}`, whole: 'Whole map', readable: 'Readable size',
      table: 'The weights as a table', strongest: 'Largest weights', save: 'Save', saveAs: (kind) => `Save as ${kind}`,
      kind: 'Attention', kinds: { cross: 'target to source', encoder: 'source to itself', decoder: 'target to itself', pooling: 'pooling' },
      queries: 'Queries: each attends', keys: 'Keys: what is attended to', colour: 'Heads in colour', colourHint: 'Every head of the layer at once, each in a colour',
      change: 'Change the model', cut: 'Cut this edge', force: 'Force this edge', mask: (t) => `Hide ${t}`, silence: 'Silence this head', uniform: 'Even weights', undo: 'Undo all',
      changes: { cut: (q, k) => `${q} ✂ ${k}`, force: (q, k) => `${q} ⇒ ${k}`, mask: (t) => `${t} hidden`, silence: (l, h) => `layer ${l} head ${h} silent`, uniform: (l, h) => `layer ${l} head ${h} even` },
      changeHint: 'Keep an edge of the map, a word or a head, then change it: the translation follows at once.', remove: (what) => `Undo: ${what}`,
      explain: 'In numbers', explainHint: 'The numbers of this model, step by step', close: 'Close', chosen: 'your choice', choose: 'Show this translation', dropped2: 'Drop a text file here',
      play: 'Play', pause: 'Pause', stepBack: 'Previous step', stepOn: 'Next step', allSteps: 'All steps', stepOf: (i, n) => `${i} of ${n}`,
      training: 'Training', trained: 'trained', atStep: (n) => `after step ${n}`, trainingHint: 'Slide or play: what this model attended to along its training.',
      stepWrites: (text, lp) => `At this step the model writes: ${text} · log-probability of the translation above ${lp}`,
      // comparing
      beside: 'Beside it', writes: (text) => `writes: ${text}`,
      fileCut: (n) => `The first ${n} characters of the file; the rest is too much for this page.`,
      // the beam
      beam: 'Beam search', beamLead: (n, words) => `${words ? `Pieces joined to words; at each piece the ${n} best hypotheses went on, those dropped within a word are left out` : `At each step the ${n} best hypotheses go on`}. Round: finished. Dashed: dropped later. Bold: the translation.`,
      beamHint: 'Point at a word, or move with the arrow keys, to follow its path.', start: 'start',
      beamNode: (text, p, lp) => `${text} · this word ${p} · log-probability so far ${lp}`, finished: 'finished',
      dropped: 'dropped', best: 'on the best path',
      // the page of the server
      taglines: {
        generate: 'Translate, and see what the model attended to', classify: 'Classify, and see which words decided',
        chat: 'Talk, and see what a reply attended to', caption: 'Describe a picture, and see where each word came from',
      },
      // classification
      conversation: 'Conversation', say: 'Say something', send: 'Send', newTalk: 'New conversation', sayFirst: 'Say something; the model replies.',
      noChat: 'The server has no model that converses.', said: 'What was said', reply: 'Reply', you: 'You', replyAttended: 'What the reply attended to',
      labels: 'Labels', model: 'Model', decided: 'Words that decided', labelsYet: 'The labels appear here as you write.',
      noClassifier: 'The server has no model that classifies.', noWords: 'The text has no words to classify.',
      moreLabels: (n) => `and ${n} less likely ones`, attentionNote: 'how much each word was attended to, whatever the label',
      saliencyOf: (label) => `Saliency for ${label}`, saliencyNote: 'words that speak for it (blue) and against it (orange)',
      // pictures
      dropPicture: 'Drop a picture here', choosePicture: 'or choose one', otherPicture: 'Another picture', picture: 'Picture', captionTitle: 'Caption',
      captionYet: 'The caption appears here.', noCaptioner: 'The server has no model that describes pictures.',
      notAPicture: 'The browser cannot read this file as a picture.', pictureHint: 'Point at a word to see what it looked at.',
      wordLooked: (word, share, row, column) => `${word}: ${share} % at row ${row}, column ${column} of the regions`,
      // translation
      from: 'From', to: 'To', swap: 'Swap languages',
      detect: 'Detect language', detected: (name) => `Detected: ${name}`, write: 'Write here', yours: 'Your text',
      translation: 'Translation', clear: 'Clear', copy: 'Copy translation', copied: 'Copied', link: 'Copy link',
      linked: 'Link copied', tryOne: 'Try one of these', alternatives: 'Other translations', words: 'Words', pieces: 'Subwords',
      unit: 'What counts as one token', attention: 'Attention', logProbability: (lp) => `log-probability ${lp}`,
      count: (n, limit) => `${n} / ${limit}`, key: 'API key', keyHint: 'This server asks for a key.',
      theme: 'Light or dark', otherLanguage: '中文', task: 'Task',
      tasks: { generate: 'Translate', classify: 'Classify', caption: 'Caption', chat: 'Chat' },
      others: (list) => `Also loaded, for programs: ${list}`, nothingYet: 'The translation appears here as you write.',
      loading: 'Connecting to the server', noModel: 'The server has no model that translates.',
      same: 'The text has no words to translate.',
      trouble: {
        gone: 'The server does not answer. Your text is safe here; the page goes on as soon as the server is back.',
        busy: (s) => `The server is busy. Trying again in ${s} s.`, key: 'The server does not accept this API key.',
        failed: (text) => `The server could not do this: ${text}`, refused: (text) => text, back: 'The server is back.',
        heads: 'The layers and heads could not be fetched; the mean is shown.',
      },
      api: 'API', tooLong: (kb) => `The attention of a text is shown up to ${kb} KB; this one is longer and has its translation alone.`,
      listed: (top, parts) => `Long text: ${parts > 1 ? `${parts} parts of whole sentences, ` : ''}${top === 1 ? 'the largest weight' : `the ${top} largest weights`} of each subword`,
      onlyMean: 'Long text: the mean of all heads.',
      noAttention: 'This model has no attention: there are no weights to show.',
    },
    zh: {
      sentence: '句子', previous: '上一句', next: '下一句', layer: '层', head: '头',
      mean: '平均', source: '原文', target: '译文', map: '权重热图', end: '句末', turn: '轮', unknown: '未知',
      attended: (t, list) => `“${t}”关注了 ${list}`, received: (s, list) => `“${s}”受到这些词的关注：${list}`,
      cell: (t, s, w) => `“${t}”对“${s}”的权重为 ${w}`, nothing: '无', empty: '空行',
      copiedWords: '带下划线：从原文复制', copiedShare: (p) => `复制：${p}`,
      hint: '指向一个词，或用方向键移动，即可看到它关注了什么。按回车键固定。',
      heads: '所有注意力头：每行一层，每列一头', allMean: '全部平均', layerMean: (l) => `第 ${l} 层，平均`, headMean: (h) => `头 ${h}，平均`,
      oneHead: (l, h) => `第 ${l} 层，头 ${h}`, whole: '显示全图', readable: '可读大小',
      table: '以表格显示权重', strongest: '最大权重', save: '保存', saveAs: (kind) => `保存为 ${kind}`,
      kind: '注意力', kinds: { cross: '译文对原文', encoder: '原文自注意力', decoder: '译文自注意力', pooling: '池化' },
      queries: '查询：每个词去关注', keys: '键：被关注的词', colour: '彩色显示各头', colourHint: '同时显示该层所有头，每头一色',
      change: '改动模型', cut: '切断这条边', force: '强制这条边', mask: (t) => `遮住“${t}”`, silence: '静音这个头', uniform: '权重取平均', undo: '全部撤销',
      changes: { cut: (q, k) => `${q} ✂ ${k}`, force: (q, k) => `${q} ⇒ ${k}`, mask: (t) => `遮住“${t}”`, silence: (l, h) => `第 ${l} 层头 ${h} 静音`, uniform: (l, h) => `第 ${l} 层头 ${h} 平均` },
      changeHint: '固定热图中的一格、一个词或一个头，再改动它：译文立即随之变化。', remove: (what) => `撤销：${what}`,
      explain: '看数字', explainHint: '此模型的数字，一步一步', close: '关闭', chosen: '您的选择', choose: '显示这个译文', dropped2: '把文本文件拖到这里',
      play: '播放', pause: '暂停', stepBack: '上一步', stepOn: '下一步', allSteps: '全部步骤', stepOf: (i, n) => `第 ${i} 步，共 ${n} 步`,
      training: '训练', trained: '训练完成', atStep: (n) => `第 ${n} 步之后`, trainingHint: '拖动或播放：此模型在训练过程中关注了什么。',
      stepWrites: (text, lp) => `此时模型写出：${text} · 上面译文的对数概率 ${lp}`,
      beside: '与之对照', writes: (text) => `自己写出：${text}`,
      fileCut: (n) => `文件的前 ${n} 个字符；其余部分超出本页的限度。`,
      beam: '束搜索', beamLead: (n, words) => `${words ? `子词已合并为词；每个子词处保留最好的 ${n} 个假设，在词中被舍弃的不显示` : `每一步保留最好的 ${n} 个假设`}。圆角：已结束。虚线：后来被舍弃。粗线：译文。`,
      beamHint: '指向一个词，或用方向键移动，即可沿路径查看。', start: '起点',
      beamNode: (text, p, lp) => `${text} · 此词概率 ${p} · 累计对数概率 ${lp}`, finished: '已结束',
      dropped: '已舍弃', best: '位于最佳路径',
      taglines: {
        generate: '翻译，并查看模型的注意力', classify: '分类，并查看哪些词起了作用',
        chat: '对话，并查看回答关注了什么', caption: '看图说话，并查看每个词来自哪里',
      },
      conversation: '对话', say: '说点什么', send: '发送', newTalk: '新对话', sayFirst: '说点什么，模型会回答。',
      noChat: '服务器上没有可用于对话的模型。', said: '说过的话', reply: '回答', you: '您', replyAttended: '回答关注了什么',
      labels: '类别', model: '模型', decided: '起作用的词', labelsYet: '输入时，类别会显示在这里。',
      noClassifier: '服务器上没有可用于分类的模型。', noWords: '这段文字里没有可分类的词。',
      moreLabels: (n) => `以及 ${n} 个可能性更小的类别`, attentionNote: '每个词受到的关注，与类别无关',
      saliencyOf: (label) => `“${label}”的显著性`, saliencyNote: '支持（蓝）与反对（橙）它的词',
      dropPicture: '把图片拖到这里', choosePicture: '或选择一张', otherPicture: '换一张图片', picture: '图片', captionTitle: '描述',
      captionYet: '描述会显示在这里。', noCaptioner: '服务器没有看图说话的模型。', notAPicture: '浏览器无法把这个文件读作图片。',
      pictureHint: '指向一个词，看它注视了图片的哪里。', wordLooked: (word, share, row, column) => `“${word}”：${share} % 在第 ${row} 行第 ${column} 列的区域`,
      from: '从', to: '到', swap: '交换语言',
      detect: '检测语言', detected: (name) => `检测到：${name}`, write: '在此输入', yours: '您的文字',
      translation: '译文', clear: '清空', copy: '复制译文', copied: '已复制', link: '复制链接',
      linked: '链接已复制', tryOne: '试试这些', alternatives: '其他译法', words: '词', pieces: '子词',
      unit: '词或子词', attention: '注意力', logProbability: (lp) => `对数概率 ${lp}`,
      count: (n, limit) => `${n} / ${limit}`, key: 'API 密钥', keyHint: '此服务器需要密钥。',
      theme: '浅色或深色', otherLanguage: 'English', task: '任务',
      tasks: { generate: '翻译', classify: '分类', caption: '看图说话', chat: '对话' },
      others: (list) => `另已加载（供程序使用）：${list}`, nothingYet: '输入时，译文会显示在这里。',
      loading: '正在连接服务器', noModel: '服务器上没有可用于翻译的模型。',
      same: '这段文字里没有可翻译的词。',
      trouble: {
        gone: '服务器没有响应。您的文字仍保留在此；服务器恢复后页面会自动继续。',
        busy: (s) => `服务器繁忙，${s} 秒后重试。`, key: '服务器不接受此 API 密钥。',
        failed: (text) => `服务器无法完成：${text}`, refused: (text) => text, back: '服务器已恢复。',
        heads: '未能取得各层各头的权重；现显示平均值。',
      },
      api: 'API', tooLong: (kb) => `注意力最多显示 ${kb} KB 的文字；这段更长，只显示译文。`,
      listed: (top, parts) => `长文：${parts > 1 ? `分为 ${parts} 个由完整句子组成的部分，` : ''}每个子词的 ${top} 个最大权重`,
      onlyMean: '文字较长：显示所有头的平均。',
      noAttention: '此模型没有注意力机制，没有可显示的权重。',
    },
  };
  // Sentences to try, by the source language of a model.
  Fovea.examples = {
    en: ['a little girl is climbing into a wooden house', 'two dogs are playing in the snow', 'a man in a blue shirt is reading a book'],
    de: ['ein kleines mädchen klettert in ein holzhaus', 'zwei hunde spielen im schnee', 'ein mann liest ein buch'],
    fr: ['deux chiens jouent dans la neige', 'une femme lit un livre sur un banc'],
    zh: ['看小猫，它好可爱', '两只狗在雪地里玩耍', '一个男人在看书'],
    dates: ['3 March 2021', '二〇二一年三月三日', 'Mon, Dec 4, 2062', '１９８２年１１月２８日'],
  };

  Fovea.dictionaries = dictionaries;
  const listeners = [];
  const known = (language) => (dictionaries[String(language).slice(0, 2).toLowerCase()] ? String(language).slice(0, 2).toLowerCase() : 'en');
  Fovea.language = known(document.documentElement.lang);
  Fovea.words = dictionaries[Fovea.language];
  Fovea.onLanguage = (listener) => listeners.push(listener);

  // Elements carry data-word="name" for their text, data-word-label="name" for their label and tooltip,
  // data-word-placeholder="name" for a field's hint.
  Fovea.setLanguage = function (language) {
    Fovea.language = known(language);
    Fovea.words = dictionaries[Fovea.language];
    document.documentElement.lang = Fovea.language === 'zh' ? 'zh-Hans' : 'en';
    for (const element of document.querySelectorAll('[data-word]')) element.textContent = Fovea.words[element.dataset.word];
    for (const element of document.querySelectorAll('[data-zh]')) { // text of a page that a command wrote
      if (!element.dataset.en) element.dataset.en = element.textContent;
      element.textContent = element.dataset[Fovea.language];
    }
    for (const element of document.querySelectorAll('[data-word-label]')) {
      element.setAttribute('aria-label', Fovea.words[element.dataset.wordLabel]);
      if (element.localName === 'button') element.title = Fovea.words[element.dataset.wordLabel];
    }
    for (const element of document.querySelectorAll('[data-word-placeholder]')) element.placeholder = Fovea.words[element.dataset.wordPlaceholder];
    listeners.forEach((listener) => listener());
  };
  const switched = () => { Fovea.setLanguage(Fovea.language === 'zh' ? 'en' : 'zh'); Fovea.remember('language', Fovea.language); };
  Fovea.languageButton = (button) => button.addEventListener('click', switched);
  // A page in one file: its theme and its language, which are the browser's until the reader chooses.
  Fovea.pageTools = function () {
    const theme = document.querySelector('.theme-button');
    Fovea.themeButton(theme);
    theme.setAttribute('data-word-label', 'theme');
    const language = Fovea.make('button', { type: 'button', class: 'quiet', id: 'language', 'data-word': 'otherLanguage' });
    theme.before(language);
    Fovea.languageButton(language);
    Fovea.setLanguage(Fovea.remember('language') || navigator.language || 'en');
  };
})();
