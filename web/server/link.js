// The permanent link: the state of the page as the part of the address after #. A selected token is s3 (of the
// source) or t3 (of the target), a selected cell of the map c3.4 (row, column).
export const readLink = () => Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
export const linkAddress = (parts) =>
  '#' + new URLSearchParams(Object.entries(parts).filter(([, value]) => value !== ''));

export const nameOf = (at) => (!at ? '' : at.side ? at.side[0] + at.i : `c${at.t}.${at.s}`);
export function positionOf(name) {
  const token = /^([st])(\d+)$/.exec(name);
  if (token) return { side: token[1] === 's' ? 'source' : 'target', i: Number(token[2]) };
  const cell = /^c(\d+)\.(\d+)$/.exec(name);
  return cell ? { t: Number(cell[1]), s: Number(cell[2]) } : null;
}
