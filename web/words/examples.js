// Sentences to try, by the source language of a model that has none of its own.
export const exampleSentences = {
  en: [
    'a little girl is climbing into a wooden house',
    'two dogs are playing in the snow',
    'a man in a blue shirt is reading a book',
  ],
  de: [
    'ein kleines mädchen klettert in ein holzhaus',
    'zwei hunde spielen im schnee',
    'ein mann liest ein buch',
  ],
  fr: [
    'deux chiens jouent dans la neige',
    'une femme lit un livre sur un banc',
  ],
  zh: ['看小猫，它好可爱', '两只狗在雪地里玩耍', '一个男人在看书'],
  dates: [
    '3 March 2021',
    '二〇二一年三月三日',
    'Mon, Dec 4, 2062',
    '１９８２年１１月２８日',
  ],
};
