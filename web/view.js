// The page of `fovea view --html`: its sentences, and a permanent link to what one sees.
(function () {
  'use strict';
  Fovea.pageTools();
  const pictures = Fovea.data('pictures');
  const link = () => {
    const parts = new URLSearchParams(location.hash.slice(1));
    return { at: (Number(parts.get('line')) || 1) - 1, layer: parts.get('layer') || '', head: parts.get('head') || '' };
  };
  const wanted = link();
  const view = Fovea.attention(document.getElementById('attention'), pictures, {
    onshow: (state) => {
      const parts = new URLSearchParams({ line: state.at + 1 });
      if (state.layer !== '') parts.set('layer', state.layer);
      if (state.head !== '') parts.set('head', state.head);
      if (location.hash.slice(1) !== parts.toString()) history.replaceState(null, '', '#' + parts);
    },
  });
  const follow = (to) => {
    Object.assign(view.state, { layer: to.layer, head: to.head });
    view.show(Math.max(0, Math.min(pictures.length - 1, to.at)));
  };
  follow(wanted);
  window.addEventListener('hashchange', () => follow(link()));
})();
