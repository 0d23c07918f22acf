// What every page of Fovea shares: the colour scales, the theme, building elements.
(function () {
  'use strict';
  const Fovea = (window.Fovea = window.Fovea || {});

  // The anchors of src/view/colour.cpp, where they are explained; a test holds both lists to each other.
  const ramps = {
    cool: {
      light: ['#eff5f4', '#b2e4e7', '#7acede', '#4bb4d5', '#3198c7', '#2e7bb2', '#2f5f98', '#2e457b', '#282e5b'],
      dark: ['#1d1f25', '#253450', '#214d78', '#096a98', '#0089af', '#20a7be', '#55c4c9', '#89ded5', '#bff6e5'],
    },
    warm: {
      light: ['#f6f3ec', '#f2d5ab', '#ecb374', '#e1924a', '#cf7331', '#b65829', '#9a4027', '#7b2d26', '#5b1e21'],
      dark: ['#251d1d', '#512721', '#79341c', '#9d480d', '#b96407', '#ce8529', '#dea852', '#ecca81', '#faecb6'],
    },
  };
  const channels = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
  const tables = {};

  // 256 steps of a scale as [r, g, b].
  Fovea.scale = function (name, theme) {
    const key = name + theme;
    if (!tables[key]) {
      const anchors = ramps[name][theme].map(channels);
      tables[key] = Array.from({ length: 256 }, (_, i) => {
        const place = (i / 255) * (anchors.length - 1);
        const low = Math.min(Math.floor(place), anchors.length - 2);
        return anchors[low].map((a, c) => Math.round(a + (anchors[low + 1][c] - a) * (place - low)));
      });
    }
    return tables[key];
  };
  Fovea.weightColour = function (weight) {
    const t = Math.max(0, Math.min(1, weight));
    return Fovea.scale('cool', Fovea.theme())[Math.round(t * 255)];
  };
  Fovea.css = (rgb) => `rgb(${rgb[0]} ${rgb[1]} ${rgb[2]})`;
  // Black or white, whichever has more contrast.
  Fovea.textOn = function (rgb) {
    const l = rgb.map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * l[0] + 0.7152 * l[1] + 0.0722 * l[2] > 0.179 ? '#000' : '#fff';
  };

  // --- what the reader chose, kept where the browser lets us -------------------------------------------------------
  Fovea.remember = function (key, value) {
    try {
      if (value === undefined) return localStorage.getItem('fovea-' + key) || '';
      if (value === '') localStorage.removeItem('fovea-' + key);
      else localStorage.setItem('fovea-' + key, value);
    } catch (refused) { /* a page from a file, or storage turned off: the choice lasts as long as the page */ }
    return '';
  };

  // --- theme: the system's, or what the reader chose -------------------------------------------------------------
  const system = window.matchMedia('(prefers-color-scheme: dark)');
  const listeners = [];
  const kept = Fovea.remember('theme');
  if (kept === 'dark' || kept === 'light') document.documentElement.dataset.theme = kept;
  Fovea.theme = () => document.documentElement.dataset.theme || (system.matches ? 'dark' : 'light');
  Fovea.onTheme = (listener) => listeners.push(listener);
  const changed = () => listeners.forEach((listener) => listener());
  system.addEventListener('change', changed);
  Fovea.themeButton = function (button) {
    button.addEventListener('click', () => {
      const chosen = Fovea.theme() === 'dark' ? 'light' : 'dark';
      document.documentElement.dataset.theme = chosen;
      Fovea.remember('theme', chosen === (system.matches ? 'dark' : 'light') ? '' : chosen);
      changed();
    });
  };

  // --- elements; text is always text, never markup ---------------------------------------------------------------
  Fovea.make = function (name, properties, ...children) {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(properties || {})) {
      if (key === 'class') element.className = value;
      else if (key.startsWith('on')) element.addEventListener(key.slice(2), value);
      else if (value === true) element.setAttribute(key, '');
      else if (value !== false && value !== undefined && value !== null) element.setAttribute(key, value);
    }
    element.append(...children);
    return element;
  };
  // Lines to try, as buttons.
  Fovea.exampleList = (element, lines, choose) => element.replaceChildren(...(lines.length ? [Fovea.make('span', { class: 'aside' }, Fovea.words.tryOne)] : []),
    ...lines.map((one) => Fovea.make('button', { type: 'button', class: 'example', dir: 'auto', onclick: () => choose(one) }, one)));
  // The part of the server's page for a task; app.js says what `start` gives.
  Fovea.views = {};
  Fovea.view = (task, start) => { Fovea.views[task] = start; };
  Fovea.data = (id) => JSON.parse(document.getElementById(id).textContent);
})();
