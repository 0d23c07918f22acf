// What one sees, as a file: the heat map as SVG or PNG, the numbers as JSON.
(function () {
  'use strict';
  const { make } = Fovea;
  const escape = (text) => text.replace(/[&<>"\u0000-\u0008\u000b\u000c\u000e-\u001f]/g,
    (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[c] || '\ufffd');
  const ROOM = 900;
  const MOST = 20000; // cells of an SVG drawn one by one; more are a picture inside it

  Fovea.mapSvg = function (picture, weights, heading) {
    const family = 'Inter, system-ui, Arial, \'Noto Sans\', \'Noto Sans CJK SC\', sans-serif';
    const layout = Fovea.mapLayout(picture, ROOM, family, false);
    const { cell, left, top, S, T, size } = layout;
    const scale = Fovea.scale('cool', 'light');
    const down = heading ? 34 : 6;
    const n = (x) => String(Math.round(x * 100) / 100);
    const parts = [`<svg xmlns="http://www.w3.org/2000/svg" width="${layout.width}" height="${layout.height + down}" viewBox="0 0 ${layout.width} ${layout.height + down}" font-family="${escape(family)}" font-size="${n(size)}" fill="#1c232b">`,
      `<title>${escape(heading || Fovea.words.map)}</title>`, '<rect width="100%" height="100%" fill="#fff"/>'];
    if (heading) parts.push(`<text x="4" y="22" font-size="15" font-weight="600">${escape(heading)}</text>`);
    parts.push(`<g transform="translate(0 ${down})">`);
    if (S * T <= MOST) {
      for (let t = 0; t < T; ++t) {
        for (let s = 0; s < S; ++s) {
          const w = weights.values[t * S + s];
          const [r, g, b] = scale[Math.round(Math.max(0, Math.min(1, w)) * 255)];
          parts.push(`<rect x="${n(left + s * cell)}" y="${n(top + t * cell)}" width="${n(cell - 1)}" height="${n(cell - 1)}" fill="#${((1 << 24) | (r << 16) | (g << 8) | b).toString(16).slice(1)}"/>`);
          if (cell >= 24 && w >= 0.05) parts.push(`<text x="${n(left + (s + 0.5) * cell - 0.5)}" y="${n(top + (t + 0.5) * cell)}" dy=".35em" font-size="${n(size * 0.78)}" text-anchor="middle" fill="${Fovea.textOn([r, g, b])}">${Math.round(w * 100)}</text>`);
        }
      }
    } else {
      const place = { x: n(left), y: n(top), width: n(cell * S), height: n(cell * T), preserveAspectRatio: 'none', style: 'image-rendering:pixelated', href: Fovea.mapPixels(weights, 'light').toDataURL() };
      parts.push('<image ' + Object.entries(place).map(([key, value]) => `${key}="${value}"`).join(' ') + '/>');
    }
    layout.target.forEach((name, t) => parts.push(`<text x="${n(left - 8)}" y="${n(top + cell * (t + 0.5))}" dy=".35em" text-anchor="end"${Fovea.isCopied(picture, t) ? ' fill="#b65829"' : ''}>${escape(name)}</text>`));
    layout.source.forEach((name, s) => {
      const x = n(left + cell * (s + 0.5));
      parts.push(layout.leans[s] ? `<text transform="translate(${x} ${n(top - 8)}) rotate(-45)" dy=".35em">${escape(name)}</text>`
        : `<text x="${x}" y="${n(top - 8)}" text-anchor="middle">${escape(name)}</text>`);
    });
    parts.push('</g></svg>');
    return parts.join('\n') + '\n';
  };

  // The whole map in the colours of the page, twice as dense as the screen where a canvas can be that large.
  Fovea.mapPng = function (map, room) {
    const layout = Fovea.mapLayout(map.picture, room, map.layout.family, false);
    const dense = Math.min(2, 12000 / Math.max(layout.width, layout.height));
    const canvas = make('canvas', { width: Math.round(layout.width * dense), height: Math.round(layout.height * dense) });
    const paper = make('canvas', { width: canvas.width, height: canvas.height });
    const context = canvas.getContext('2d');
    context.setTransform(dense, 0, 0, dense, 0, 0);
    Fovea.paintMap(context, { ...map, layout, active: null }, { x: 0, y: 0, width: layout.width, height: layout.height });
    const sheet = paper.getContext('2d');
    sheet.fillStyle = map.colours.paper;
    sheet.fillRect(0, 0, paper.width, paper.height);
    sheet.drawImage(canvas, 0, 0);
    return new Promise((done) => paper.toBlob(done, 'image/png'));
  };

  Fovea.saveFile = function (name, content, type) {
    const url = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
    const link = make('a', { href: url, download: name });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(url), 10000);
  };

  // Rows of numbers again, four decimals.
  const rows = (grid) => Array.from({ length: grid.rows }, (_, t) => Array.from(Fovea.row(grid, t), (w) => Math.round(w * 1e4) / 1e4));
  Fovea.pictureJson = (picture) => JSON.stringify({
    source: picture.source, target: picture.target, weights: rows(Fovea.grid(Fovea.dense(picture))),
    ...((picture.attention || []).length ? { attention: picture.attention.map((one) => ({ ...one, largest: undefined, weights: rows(Fovea.grid(Fovea.dense(one))) })) } : {}),
  }) + '\n';
})();
