// Elements of the page. Text is always text, never markup.

const SVG = 'http://www.w3.org/2000/svg';

// An element with attributes, listeners (onclick: …) and children.
export function make(name, properties, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(properties || {})) {
    if (key === 'class') element.className = value;
    else if (key.startsWith('on')) element.addEventListener(key.slice(2), value);
    else if (value === true) element.setAttribute(key, '');
    else if (value !== false && value !== undefined && value !== null) element.setAttribute(key, value);
  }
  element.append(...children);
  return element;
}

// An element of an SVG picture.
export function shape(name, attributes, ...children) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes || {})) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

// The JSON that the page carries in the script element `id`.
export const readData = (id) => JSON.parse(document.getElementById(id).textContent);
