// The permanent link: what one sees as the address after #, and back. A kept token is s3 (of the source) or t3 (of the
// target), a kept cell of the map c3.4 (row, column).
(function () {
  'use strict';
  Fovea.link = {
    read: () => Object.fromEntries(new URLSearchParams(location.hash.slice(1))),
    address: (parts) => '#' + new URLSearchParams(Object.entries(parts).filter(([, value]) => value !== '')),
    nameOf: (at) => (!at ? '' : at.side ? at.side[0] + at.i : `c${at.t}.${at.s}`),
    wordAt(name) {
      const token = /^([st])(\d+)$/.exec(name);
      if (token) return { side: token[1] === 's' ? 'source' : 'target', i: Number(token[2]) };
      const cell = /^c(\d+)\.(\d+)$/.exec(name);
      return cell ? { t: Number(cell[1]), s: Number(cell[2]) } : null;
    },
  };
})();
