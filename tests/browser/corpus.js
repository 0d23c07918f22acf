// corpus.js FOLDER: a small corpus of sentences whose words differ: train.en, train.de, valid.en, valid.de.
'use strict';
const fs = require('fs');
const path = require('path');

const who = [['a man', 'ein mann'], ['a woman', 'eine frau'], ['a child', 'ein kind'], ['two dogs', 'zwei hunde'], ['three birds', 'drei vögel'],
  ['the old cat', 'die alte katze'], ['a little girl', 'ein kleines mädchen'], ['my brother', 'mein bruder']];
const does = [['sees', 'sieht'], ['reads', 'liest'], ['loves', 'liebt'], ['finds', 'findet'], ['paints', 'malt']];
const what = [['a book', 'ein buch'], ['the house', 'das haus'], ['a red car', 'ein rotes auto'], ['the snow', 'den schnee'], ['an apple', 'einen apfel'],
  ['the river', 'den fluss']];
const when = [['', ''], [' today', ' heute'], [' in the morning', ' am morgen'], [' with joy', ' mit freude']];

const lines = [];
for (const a of who) for (const b of does) for (const c of what) for (const d of when) {
  const plural = /^(two|three)/.test(a[0]);
  const verb = [plural ? b[0].replace(/s$/, '') : b[0], plural ? { sieht: 'sehen', liest: 'lesen', liebt: 'lieben', findet: 'finden', malt: 'malen' }[b[1]] : b[1]];
  lines.push([`${a[0]} ${verb[0]} ${c[0]}${d[0]}`, `${a[1]} ${verb[1]} ${c[1]}${d[1]}`]);
}
const held = (i) => i % 40 === 7;
const folder = process.argv[2];
for (const [name, keep] of [['train', (i) => !held(i)], ['valid', held]]) {
  const chosen = lines.filter((_, i) => keep(i));
  fs.writeFileSync(path.join(folder, name + '.en'), chosen.map((one) => one[0] + '\n').join(''));
  fs.writeFileSync(path.join(folder, name + '.de'), chosen.map((one) => one[1] + '\n').join(''));
}
