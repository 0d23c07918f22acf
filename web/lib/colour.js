// The colour scales of weights and numbers.
import { currentTheme } from './theme.js';

// The anchors of src/view/colour.cpp, which explains them; a test compares both lists.
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
export function colourScale(name, theme) {
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
}

export function weightColour(weight) {
  const t = Math.max(0, Math.min(1, weight));
  return colourScale('cool', currentTheme())[Math.round(t * 255)];
}

export const cssColour = (rgb) => `rgb(${rgb[0]} ${rgb[1]} ${rgb[2]})`;

// Black or white, whichever has more contrast.
export function textColourOn(rgb) {
  const l = rgb.map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * l[0] + 0.7152 * l[1] + 0.0722 * l[2] > 0.179 ? '#000' : '#fff';
}
