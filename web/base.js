// What every page of Fovea shares: the colour scales, the theme, words in two languages, building elements.
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

  // --- theme: the system's, or what the reader chose -------------------------------------------------------------
  const system = window.matchMedia('(prefers-color-scheme: dark)');
  const listeners = [];
  Fovea.theme = () => document.documentElement.dataset.theme || (system.matches ? 'dark' : 'light');
  Fovea.onTheme = (listener) => listeners.push(listener);
  const changed = () => listeners.forEach((listener) => listener());
  system.addEventListener('change', changed);
  Fovea.themeButton = function (button) {
    button.addEventListener('click', () => {
      document.documentElement.dataset.theme = Fovea.theme() === 'dark' ? 'light' : 'dark';
      changed();
    });
  };

  // --- words -----------------------------------------------------------------------------------------------------
  const words = {
    en: {
      sentence: 'Sentence', previous: 'Previous sentence', next: 'Next sentence', layer: 'Layer', head: 'Head',
      mean: 'mean', own: 'as the model uses it', source: 'Source', target: 'Target', map: 'Heat map of the weights',
      looked: (t, list) => `${t} looked at ${list}`, read: (s, list) => `${s} was read by ${list}`,
      cell: (t, s, w) => `${t} looked at ${s} with weight ${w}`, nothing: 'nothing', empty: 'an empty line',
      hint: 'Point at a word, or move with the arrow keys, to see what it attended to. Enter keeps it.',
    },
    zh: {
      sentence: '句子', previous: '上一句', next: '下一句', layer: '层', head: '头',
      mean: '平均', own: '模型所用', source: '源文', target: '译文', map: '权重热图',
      looked: (t, list) => `${t} 关注了 ${list}`, read: (s, list) => `${s} 被这些词关注：${list}`,
      cell: (t, s, w) => `${t} 对 ${s} 的权重为 ${w}`, nothing: '无', empty: '空行',
      hint: '指向一个词，或用方向键移动，可看到它关注了什么。回车键固定。',
    },
  };
  Fovea.words = words[(document.documentElement.lang || 'en').slice(0, 2)] || words.en;

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
  Fovea.data = (id) => JSON.parse(document.getElementById(id).textContent);
})();
