/**
 * Makes an element. Children are elements or text: nothing on this page is ever made from a string of HTML, so no
 * message can become markup.
 */
export function el(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    if (key.startsWith('on')) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value === true ? '' : value);
  }
  element.append(...children);
  return element;
}

export const byId = (id) => document.getElementById(id);

/** Signs that change how a line reads without being seen: direction marks, zero width, controls. */
const hidden =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e007f}]/u;

/** Text of a command or a file as nodes, with every hidden sign shown as its number. */
export function plainlyVisible(text) {
  const nodes = [];
  let run = '';
  for (const sign of text) {
    if (!hidden.test(sign)) {
      run += sign;
      continue;
    }
    const number = sign.codePointAt(0).toString(16).toUpperCase().padStart(4, '0');
    nodes.push(run, el('span', { class: 'hidden-sign' }, `U+${number}`));
    run = '';
  }
  return [...nodes, run].filter((node) => node !== '');
}

/** A question that must be answered before going on. Resolves to null when it was declined. */
export function ask(question, inputLabel) {
  const dialog = byId('ask');
  const label = dialog.querySelector('label');
  const input =
    inputLabel === undefined ? null : el('input', { id: 'ask-input', type: 'text', maxlength: '4000' });
  dialog.querySelector('p').textContent = question ?? '';
  label.replaceChildren(...(input === null ? [] : [inputLabel, input]));
  dialog.returnValue = 'no';
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener(
      'close',
      () => resolve(dialog.returnValue === 'yes' ? { input: input?.value.trim() || undefined } : null),
      { once: true },
    );
  });
}
