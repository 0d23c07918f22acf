// Queries, keys and values of a model that has learned which word 它 (it) stands for.
(function () {
  'use strict';
  const { make } = Fovea;
  // What the words mean, for readers of English.
  const GLOSS = {
    看: 'look', 小猫: 'kitten', 小狗: 'puppy', 鸭子: 'duck', 兔子: 'rabbit', 桌子: 'table', 椅子: 'chair', 箱子: 'box', 沙发: 'sofa',
    它: 'it', 好: 'so', 可爱: 'cute', 聪明: 'clever', 调皮: 'naughty', 结实: 'sturdy', 宽大: 'roomy', 舒服: 'comfortable', 新鲜: 'fresh', 香甜: 'sweet', 美味: 'tasty', 苹果: 'apple', 香蕉: 'banana', 西瓜: 'melon', 葡萄: 'grapes', 在: 'is', 旁边: 'beside', '，': ',',
  };
  Fovea.lesson({
    id: 'qkv', models: true, formula: 'Q = X W_Q    K = X W_K    V = X W_V      A = softmax(Q Kᵀ / √d)      Z = A V',
    words: {
      en: {
        title: 'Q, K, V: a sentence reads itself',
        lead: ['看小猫，它好可爱: look, the kitten, it is so cute. What is “it”? In self-attention every word asks the others: its query is compared with every word’s key, and it reads their values by the weights. All three are learned maps of the word’s own vector.',
          'A Transformer of two layers with one head learns to say what 它 stands for, in sentences with two of an animal, a piece of furniture and a fruit. Cute is the animal, sturdy the furniture, fresh the fruit. Choose a word to see its query, and change the sentence.'],
        sentence: 'Sentence', layer: 'Layer', layerName: (i) => `Layer ${i}`, ask: 'Which word asks?', query: (word) => `Query of ${word}`, keys: 'Keys of all words', scores: 'Scores q·k / √d', weights: 'Weights', values: 'Values of all words', read: 'What it read: Σ weight · value',
        means: '它 stands for', right: (p) => `Right on new sentences: ${p}.`, gloss: true, map: 'All weights: a row for each word that asks',
        question: {
          ask: 'In 小猫在桌子旁边，它好可爱 (the kitten is beside the table, it is so cute), 可爱 (cute) becomes 结实 (sturdy). Which word does 它 find now?',
          choices: ['小猫 (kitten)', '桌子 (table)', '旁边 (beside)'], right: 1,
          because: 'Only a table is sturdy. In this model the first layer reads what is said of 它, and in the second 它 finds the word that it fits; a model trained from another start may share the work out in another way.',
          hint: 'Choose that sentence, look at what 它 stands for, and at its weights in layer 2.',
        },
      },
      zh: {
        title: 'Q、K、V：句子读自己',
        lead: ['看小猫，它好可爱。“它”是什么？在自注意力里，每个词都去问其他词：它的查询与每个词的键比较，再按权重读取它们的值。三者都是由词自己的向量经过学到的映射得到的。',
          '一个两层、单头的 Transformer 学习说出“它”指什么，句子里有动物、家具、水果中的两样。可爱的是动物，结实的是家具，新鲜的是水果。选一个词看它的查询，再改一改句子。'],
        sentence: '句子', layer: '层', layerName: (i) => `第 ${i} 层`, ask: '哪个词在问？', query: (word) => `“${word}”的查询`, keys: '所有词的键', scores: '分数 q·k / √d', weights: '权重', values: '所有词的值', read: '读到的：Σ 权重 · 值',
        means: '“它”指的是', right: (p) => `在新句子上的正确率：${p}。`, gloss: false, map: '全部权重：每行是一个提问的词',
        question: {
          ask: '把“小猫在桌子旁边，它好可爱”里的“可爱”换成“结实”。“它”现在找到哪个词？',
          choices: ['小猫', '桌子', '旁边'], right: 1,
          because: '只有桌子才结实。在这个模型里，第一层读出句子说“它”怎么样，第二层里“它”找到相配的词；从别的初始值训练出的模型可能分工不同。',
          hint: '选那个句子，看“它”指什么，以及它在第 2 层的权重。',
        },
      },
    },
    draw({ w, facts, ask, field }) {
      const { number, share } = Fovea.draw;
      const lines = facts.examples.map((one) => one.text);
      let answer = null;
      let layer = 1;
      let chosen = '它';
      const words = make('div', { class: 'word-row', role: 'group', 'aria-label': w.ask });
      const boxes = make('div', { class: 'steps' });
      const text = field(w.sentence, lines[0], lines, () => look());
      const named = (word) => (w.gloss && GLOSS[word] && GLOSS[word] !== ',' ? `${word} ${GLOSS[word]}` : word);
      const look = () => ask({ text: text.value }, (got) => { answer = got; show(); });
      function show() {
        const at = Math.max(0, answer.words.indexOf(chosen));
        words.replaceChildren(...answer.words.map((word, i) => make('button', { type: 'button', class: 'word', 'aria-pressed': String(i === at), onclick: () => { chosen = word; show(); words.querySelector('[aria-pressed="true"]').focus(); } },
          word, ...(w.gloss && GLOSS[word] ? [make('small', {}, GLOSS[word])] : []))));
        const now = answer.layers[layer];
        const names = answer.words.map(named);
        const most = Math.max(...now.weights[at]);
        const mark = (i) => now.weights[at][i] === most;
        const size = (rows) => Math.max(1e-9, ...rows.flat().map(Math.abs));
        const strips = (rows) => make('div', { class: 'strips' }, ...rows.map((row, i) => make('div', { class: 'strip-row' }, make('span', { class: 'bar-name' }, names[i]), Fovea.draw.strip(row, size(rows)))));
        const scores = now.scores[at];
        boxes.replaceChildren(
          Fovea.draw.box(w.query(answer.words[at]), Fovea.draw.strip(now.query[at], size(now.query))), Fovea.draw.box(w.keys, strips(now.key)),
          Fovea.draw.box(w.scores, Fovea.draw.bars(make('div', {}), scores.map((value, i) => ({ name: names[i], value, mark: mark(i) })), Math.max(...scores.map(Math.abs)))),
          Fovea.draw.box(w.weights, Fovea.draw.bars(make('div', {}), now.weights[at].map((value, i) => ({ name: names[i], value, text: number(value, 3), mark: mark(i) })))),
          Fovea.draw.box(w.values, strips(now.value)), Fovea.draw.box(w.read, Fovea.draw.strip(now.context[at])),
          Fovea.draw.box(w.map, Fovea.draw.heat({ rows: answer.words, columns: answer.words, values: now.weights, mark: (i) => i === at })),
          ...(answer.guesses ? [Fovea.draw.box(w.means, Fovea.draw.bars(make('div', { class: 'guesses' }), answer.guesses.map((one) => ({ name: named(one.text), value: one.p, text: share(one.p) }))))] : []));
      }
      look();
      return make('div', {}, make('p', { class: 'aside' }, w.right(share(facts.right))), text.element,
        Fovea.draw.choice(w.layer, [[0, w.layerName(1)], [1, w.layerName(2)]], layer, (one) => { layer = one; show(); }), words, boxes);
    },
  });
})();
