// The report's samples: the button of a sentence shows its attention.
import '../styles/base.css';
import '../styles/attention.css';
import '../styles/chart.css';
import '../styles/report.css';
import { attentionView } from '../attention/attention_view.js';
import { readData } from '../lib/dom.js';
import { currentLanguage, onLanguageChange } from '../lib/language.js';
import { addPageTools } from '../lib/page_tools.js';
import '../views/chart.js';

// What the training has written in English, in Chinese; settings are called as the options are.
const chinese = {
  BLEU: 'BLEU',
  accuracy: '准确率',
  'exact match': '完全一致',
  'validation loss': '验证损失',
  steps: '步数',
  epochs: '轮数',
  minutes: '分钟',
  'tokens/s': '词元/秒',
  'Loss per token': '每个词元的损失',
  'Score on the validation lines': '验证集上的得分',
  'Target tokens per second': '每秒目标词元数',
  'Learning rate': '学习率',
  training: '训练',
  validation: '验证',
  rate: '学习率',
  step: '步',
  Samples: '样例',
  Settings: '设置',
  'What the model attended to': '模型关注了什么',
  attention: '注意力',
  'as the reference': '与参考译文一致',
  'reference:': '参考译文：',
  'accuracy, %': '准确率，%',
  'exact match, %': '完全一致，%',
  'no figures yet': '尚无数据',
};
const named = [...document.querySelectorAll('dt, h2, .chart *, [data-picture], .note')]
  .filter((one) => !one.children.length && chinese[one.textContent.trim()])
  .map((one) => [one, one.textContent.trim()]);
onLanguageChange(() => {
  for (const [one, english] of named) one.textContent = currentLanguage() === 'zh' ? chinese[english] : english;
});
addPageTools();
const place = document.getElementById('attention');
const view = place && attentionView(place, readData('pictures'));
for (const button of document.querySelectorAll('[data-picture]')) {
  button.addEventListener('click', () => {
    view.show(Number(button.dataset.picture));
    place.scrollIntoView({ behavior: 'smooth', block: 'center' });
  });
}
