// The words around the lessons, in both languages; each lesson has its own in its file.
(function () {
  'use strict';
  Fovea.dictionaries.en.learn = {
    lessons: 'Lessons', train: 'Train the models', training: (model, step, steps) => `Training ${model}: step ${step} of ${steps}`,
    waiting: 'Another training is under way; yours is next.', loss: 'loss', steps: 'steps', trainAgain: 'Train again',
    trainHint: 'Small models, trained here and now in some seconds.',
    trained: (s) => `Trained in ${s.toFixed(1)} s.`, recorded: 'This page has no server: what the models answered was recorded when it was written. Choose one of the recorded inputs.',
    tryIt: 'Try it', question: 'Question', check: 'Check', right: 'Right.', wrong: 'Not yet.', answer: 'Your answer', again: 'Try again',
    next: 'Next lesson', previous: 'Previous lesson', done: 'solved', of: (i, n) => `Lesson ${i} of ${n}`, solved: (i, n) => `${i} of ${n} questions solved`,
    examples: 'Or one of these', failed: (text) => `That did not work: ${text}`, number: 'a number', all: 'You have solved every question. Well done.',
  };
  Fovea.dictionaries.zh.learn = {
    lessons: '课程', train: '训练模型', training: (model, step, steps) => `正在训练 ${model}：第 ${step} 步，共 ${steps} 步`,
    waiting: '另一个训练正在进行，接着就轮到您。', loss: '损失', steps: '步数', trainAgain: '重新训练',
    trainHint: '很小的模型，就在此刻训练，只需几秒。',
    trained: (s) => `训练用时 ${s.toFixed(1)} 秒。`, recorded: '此页面没有服务器：模型的回答是写文件时录下的。请从录下的输入中选择。',
    tryIt: '动手试试', question: '问题', check: '检查', right: '正确。', wrong: '还不对。', answer: '您的答案', again: '再试一次',
    next: '下一课', previous: '上一课', done: '已答对', of: (i, n) => `第 ${i} 课，共 ${n} 课`, solved: (i, n) => `已答对 ${i} / ${n} 题`,
    examples: '或选一个', failed: (text) => `没有成功：${text}`, number: '一个数', all: '所有问题都答对了，真棒。',
  };
  Object.assign(Fovea.dictionaries.en.tasks, { learn: 'Learn' });
  Object.assign(Fovea.dictionaries.zh.tasks, { learn: '学习' });
  Object.assign(Fovea.dictionaries.en.taglines, { learn: 'Attention, step by step, on models trained here' });
  Object.assign(Fovea.dictionaries.zh.taglines, { learn: '一步步学注意力，模型就在这里训练' });
})();
