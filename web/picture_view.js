// The page of `fovea view --html` for pictures.
(function () {
  'use strict';
  Fovea.themeButton(document.querySelector('.theme-button'));
  const addresses = Fovea.data('addresses');
  document.getElementById('pictures-here').append(
    ...Fovea.data('pictures').map((record, i) => Fovea.make('div', { class: 'card' }, Fovea.picture(record, addresses[i]))));
})();
