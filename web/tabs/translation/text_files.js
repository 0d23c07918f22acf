const MOST = 400000; // bytes of a file that are read

// Text files can be dropped on `element`: take(text, whole) receives the text; whole is false if the file has more.
export function acceptTextFiles(element, take) {
  const carries = (event) => event.dataTransfer && [...event.dataTransfer.types].includes('Files');
  element.addEventListener('dragover', (event) => {
    if (!carries(event)) return;
    event.preventDefault();
    element.classList.add('dropping');
  });
  element.addEventListener('dragleave', (event) => {
    if (!element.contains(event.relatedTarget)) element.classList.remove('dropping');
  });
  element.addEventListener('drop', async (event) => {
    element.classList.remove('dropping');
    const file = carries(event) && event.dataTransfer.files[0];
    if (!file) return;
    event.preventDefault();
    take(await file.slice(0, MOST).text(), file.size <= MOST);
  });
}
