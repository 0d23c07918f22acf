// The page of `fovea view --html` for pictures.
(function () {
  'use strict';
  const addresses = Fovea.data('addresses');
  const pictures = Fovea.data('pictures');
  Fovea.onLanguage(() => document.getElementById('pictures-here').replaceChildren(
    ...pictures.map((record, i) => Fovea.make('div', { class: 'card' }, Fovea.picture(record, addresses[i])))));
  Fovea.pageTools();
})();
