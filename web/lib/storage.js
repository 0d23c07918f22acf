// The reader's choices, kept where the browser allows it. remember(key) reads, remember(key, value) writes, ''
// deletes.
export function remember(key, value) {
  try {
    if (value === undefined) return localStorage.getItem('fovea-' + key) || '';
    if (value === '') localStorage.removeItem('fovea-' + key);
    else localStorage.setItem('fovea-' + key, value);
  } catch (refused) {
    // A page from a file, or storage is turned off: the choice lasts as long as the page.
  }
  return '';
}
