import { renderCard } from '/web/card-view.js';
import { el } from '/web/dom.js';
import { renderMarkdown } from '/web/markdown.js';
import { texts } from '/web/texts.js';

const cursor = /\s*▉$/;

/** One message as a list item, with `shown` its message. `context` is { chatId, serverNow, onReply }. */
export function renderMessage(message, context) {
  const { kind } = message.body;
  const view = el('li', { class: `message is-${kind}`, 'data-id': message.id });
  view.append(...bodyMakers[kind](message, context));
  return view;
}

const bodyMakers = {
  said: ({ body, at, late }) => [
    speaker(texts.you),
    el(
      'div',
      { class: 'bubble' },
      ...attachments(body.files),
      ...(body.text === '' ? [] : [el('p', {}, body.text)]),
    ),
    late ? el('small', {}, texts.notSent) : time(at),
  ],
  text: ({ body }) => {
    const view = el('div', { class: cursor.test(body.markdown) ? 'prose streaming' : 'prose' });
    view.append(markup(body.markdown.replace(cursor, '')));
    return [speaker(texts.bot), view];
  },
  progress: ({ body }) => [el('ul', {}, ...body.lines.map((line) => el('li', {}, line)))],
  card: (message, { chatId, serverNow, onReply }) => [
    renderCard(message.body.card, { chatId, messageId: message.id }, serverNow, onReply),
  ],
  file: ({ body }) => [
    speaker(texts.bot),
    ...attachments([body.file]),
    el('p', { class: 'caption' }, body.caption ?? ''),
  ],
  removed: () => [],
};

/** Never a lost answer because of markup: what cannot be laid out, such as a thousand nested lists, stays text. */
function markup(markdown) {
  try {
    return renderMarkdown(markdown);
  } catch (error) {
    console.warn('A message is shown without markup', error);
    return el('p', { class: 'plain' }, markdown);
  }
}

function speaker(name) {
  return el('span', { class: 'unseen' }, `${name}: `);
}

function time(at) {
  const moment = new Date(at);
  const words = moment.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' });
  return el('time', { datetime: moment.toISOString(), title: moment.toLocaleString() }, words);
}

function attachments(files) {
  return files.map((file) => {
    const url = `/web/files?id=${encodeURIComponent(file.id)}&name=${encodeURIComponent(file.name)}`;
    if (file.mimeType.startsWith('image/')) {
      return el(
        'a',
        { href: url, target: '_blank', class: 'picture' },
        el('img', { src: url, alt: file.name, loading: 'lazy' }),
      );
    }
    return el(
      'a',
      { href: url, download: file.name, class: 'attachment' },
      el('span', {}, file.name),
      el('small', {}, `${size(file.bytes)} · ${texts.download}`),
    );
  });
}

function size(bytes) {
  const units = ['B', 'kB', 'MB', 'GB'];
  const power = Math.min(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), units.length - 1);
  const amount = bytes / 1000 ** power;
  return `${amount >= 10 || power === 0 ? Math.round(amount) : amount.toFixed(1)} ${units[power]}`;
}
