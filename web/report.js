// The report's samples: the button of a sentence shows its attention.
(function () {
  'use strict';
  Fovea.themeButton(document.querySelector('.theme-button'));
  const place = document.getElementById('attention');
  if (!place) return;
  const view = Fovea.attention(place, Fovea.data('pictures'));
  for (const button of document.querySelectorAll('[data-picture]')) {
    button.addEventListener('click', () => {
      view.show(Number(button.dataset.picture));
      place.scrollIntoView({ behavior: 'smooth', block: 'center' });
    });
  }
})();
