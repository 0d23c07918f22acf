// pictures.js FOLDER: pictures of two coloured shapes and their captions: shapes.source, shapes.target, shapes/N.png.
'use strict';
const fs = require('fs');
const path = require('path');
const zlib = require('zlib');

const SIDE = 48;
const colours = { red: [220, 30, 30], green: [30, 170, 60], blue: [40, 60, 220] };
let seed = 7;
const below = (n) => { seed = (seed * 1103515245 + 12345) % 2147483648; return Math.floor((seed / 2147483648) * n); };

const table = Array.from({ length: 256 }, (_, n) => { let c = n; for (let k = 0; k < 8; ++k) c = c & 1 ? (c >>> 1) ^ 0xedb88320 : c >>> 1; return c >>> 0; });
const check = (bytes) => { let c = 0xffffffff; for (const b of bytes) c = table[(c ^ b) & 255] ^ (c >>> 8); return (c ^ 0xffffffff) >>> 0; };
function chunk(name, data) {
  const body = Buffer.concat([Buffer.from(name), data]);
  const out = Buffer.alloc(body.length + 8);
  out.writeUInt32BE(data.length, 0);
  body.copy(out, 4);
  out.writeUInt32BE(check(body), body.length + 4);
  return out;
}
function png(pixel) {
  const rows = Buffer.alloc(SIDE * (1 + SIDE * 3));
  for (let y = 0; y < SIDE; ++y) for (let x = 0; x < SIDE; ++x) rows.set(pixel(x, y), y * (1 + SIDE * 3) + 1 + x * 3);
  const head = Buffer.alloc(13);
  head.writeUInt32BE(SIDE, 0);
  head.writeUInt32BE(SIDE, 4);
  head.set([8, 2, 0, 0, 0], 8);
  return Buffer.concat([Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]), chunk('IHDR', head), chunk('IDAT', zlib.deflateSync(rows)), chunk('IEND', Buffer.alloc(0))]);
}

const folder = process.argv[2];
fs.mkdirSync(path.join(folder, 'shapes'), { recursive: true });
const source = [];
const target = [];
for (let i = 0; i < 240; ++i) {
  const shapes = [0, 1].map((k) => ({
    colour: Object.keys(colours)[below(3)], kind: ['square', 'circle'][below(2)],
    x: SIDE * (k ? 0.74 : 0.24) + below(4), y: SIDE * 0.3 + below(18), r: SIDE * 0.16,
  }));
  const inside = (s, x, y) => (s.kind === 'square' ? Math.max(Math.abs(x - s.x), Math.abs(y - s.y)) <= s.r : Math.hypot(x - s.x, y - s.y) <= s.r);
  const file = path.join(folder, 'shapes', `${i}.png`);
  fs.writeFileSync(file, png((x, y) => { const hit = shapes.find((s) => inside(s, x, y)); return hit ? colours[hit.colour] : [240, 240, 240]; }));
  source.push(file);
  target.push(shapes.map((s) => `a ${s.colour} ${s.kind}`).join(' left of '));
}
fs.writeFileSync(path.join(folder, 'shapes.source'), source.join('\n') + '\n');
fs.writeFileSync(path.join(folder, 'shapes.target'), target.join('\n') + '\n');
