import { byId, el } from '/web/dom.js';
import { renderMarkdown } from '/web/markdown.js';

/** One line of a chat: what a person said, what the bot shows, what one person alone was told. */
export function renderEntry(entry, { fileAddress, onPress }) {
  if (entry.kind === 'said') {
    const file = entry.file === undefined ? [] : [el('span', { class: 'file' }, `📎 ${entry.file}`)];
    return el('li', { class: 'said' }, el('small', {}, entry.who), el('p', {}, entry.text), ...file);
  }
  if (entry.kind === 'told')
    return el(
      'li',
      { class: 'told' },
      el('small', {}, `Only ${entry.who} sees this`),
      el('p', {}, entry.text),
    );
  const text = entry.text.replace(/<t:(\d+):R>/g, (_stamp, seconds) => relative(Number(seconds)));
  const body = entry.markdown ? renderMarkdown(text) : el('p', {}, text);
  const file =
    entry.file === undefined
      ? []
      : [el('a', { class: 'file', href: fileAddress(entry.id), download: entry.file }, `📎 ${entry.file}`)];
  const isCard = entry.buttons.length > 0;
  return el(
    'li',
    { class: isCard ? 'bot waiting' : 'bot' },
    el('small', {}, 'Hermes'),
    el('div', { class: 'body' }, body),
    ...file,
    el('div', { class: 'buttons' }, ...entry.buttons.map((label) => button(label, onPress))),
  );
}

/** Discord's clients turn a timestamp into words. */
function relative(seconds) {
  const minutes = Math.round((seconds * 1000 - Date.now()) / 60_000);
  return new Intl.RelativeTimeFormat('en').format(minutes, 'minute');
}

const styles = [
  ['Deny', 'danger'],
  ['Once', 'success'],
];

function button(label, onPress) {
  const [, style] = styles.find(([word]) => label.includes(word)) ?? [];
  return el('button', { type: 'button', class: style, onclick: () => onPress(label) }, label);
}

/** Discord and Slack open a form when a card is denied. Resolves with null when it was left. */
export function askReason() {
  const dialog = byId('reason');
  const input = byId('reason-text');
  input.value = '';
  dialog.returnValue = 'no';
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener('close', () => resolve(dialog.returnValue === 'go' ? input.value : null), {
      once: true,
    });
  });
}
