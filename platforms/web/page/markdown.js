import { el } from '/web/dom.js';
import { marked } from '/web/marked.js';
import { texts } from '/web/texts.js';

/**
 * Markdown of a model as elements. The lexer only reads; every element is made here by name and every text is a
 * text node. HTML in the source stays text, pictures from afar become links, and a link leads to http(s) or mailto.
 */
export function renderMarkdown(markdown) {
  const fragment = document.createDocumentFragment();
  fragment.append(...blocks(marked.lexer(markdown)));
  return fragment;
}

const blockMakers = {
  space: () => [],
  def: () => [],
  heading: (token) => [el(`h${Math.min(token.depth + 2, 6)}`, {}, ...inlines(token.tokens))],
  paragraph: (token) => [el('p', {}, ...inlines(token.tokens))],
  text: (token) => (token.tokens ? inlines(token.tokens) : [token.text]),
  code: (token) => [codeBlock(token.text, token.lang)],
  blockquote: (token) => [el('blockquote', {}, ...blocks(token.tokens))],
  hr: () => [el('hr')],
  list: (token) => [
    el(
      token.ordered ? 'ol' : 'ul',
      { start: token.ordered && token.start !== 1 ? String(token.start) : undefined },
      ...token.items.map(listItem),
    ),
  ],
  table: (token) => [table(token)],
};

const inlineMakers = {
  strong: (token) => [el('strong', {}, ...inlines(token.tokens))],
  em: (token) => [el('em', {}, ...inlines(token.tokens))],
  del: (token) => [el('del', {}, ...inlines(token.tokens))],
  codespan: (token) => [el('code', {}, token.text)],
  br: () => [el('br')],
  link: (token) => [link(token.href, inlines(token.tokens))],
  image: (token) => [link(token.href, [token.text || token.href])],
  text: (token) => (token.tokens ? inlines(token.tokens) : [token.text]),
  escape: (token) => [token.text],
};

const blocks = (tokens) => tokens.flatMap((token) => (blockMakers[token.type] ?? asWritten)(token));
const inlines = (tokens) => tokens.flatMap((token) => (inlineMakers[token.type] ?? asWritten)(token));
const asWritten = (token) => [token.raw];

function listItem(item) {
  const box = item.task
    ? [el('input', { type: 'checkbox', disabled: true, checked: item.checked }), ' ']
    : [];
  const tokens = item.tokens.filter((token) => token.type !== 'checkbox');
  return el('li', { class: item.task ? 'task' : undefined }, ...box, ...blocks(tokens));
}

function table({ header, align, rows }) {
  const cells = (name, row) =>
    row.map((cell, index) =>
      el(name, { class: align[index] ? `to-${align[index]}` : undefined }, ...inlines(cell.tokens)),
    );
  return el(
    'div',
    { class: 'table', tabindex: '0' },
    el(
      'table',
      {},
      el('thead', {}, el('tr', {}, ...cells('th', header))),
      el('tbody', {}, ...rows.map((row) => el('tr', {}, ...cells('td', row)))),
    ),
  );
}

function link(href, children) {
  const url = URL.canParse(href) ? new URL(href) : null;
  if (url === null || !['http:', 'https:', 'mailto:'].includes(url.protocol))
    return el('span', {}, ...children);
  return el('a', { href: url.href, rel: 'noopener noreferrer nofollow', target: '_blank' }, ...children);
}

export function codeBlock(text, language) {
  const copy = el('button', { type: 'button', class: 'copy' }, texts.copy);
  copy.addEventListener('click', async () => {
    await navigator.clipboard.writeText(text);
    copy.textContent = texts.copied;
    setTimeout(() => {
      copy.textContent = texts.copy;
    }, 1500);
  });
  const name = (language ?? '').split(/\s/, 1)[0];
  return el(
    'div',
    { class: 'code' },
    el('div', { class: 'code-head' }, el('span', {}, name), copy),
    el('pre', { tabindex: '0' }, el('code', {}, text)),
  );
}
