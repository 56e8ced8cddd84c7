import type { MarkedToken, Token, Tokens } from 'marked';
import { own, plainText, readMarkdown } from './markdown.ts';
import { safeUrl } from './safe-url.ts';
import { alignedTable } from './table.ts';

/**
 * A model's Markdown in Discord's dialect: headings of three levels, no tables, no images, links to the web only.
 * What the model meant as text stays text, since Discord reads marks that CommonMark does not. Pings are not this
 * function's matter: the adapter sends `allowed_mentions` with nobody in it.
 */
export function toDiscordMarkdown(markdown: string): string {
  return renderBlocks(readMarkdown(markdown)).trim();
}

function renderBlocks(tokens: readonly Token[] | undefined): string {
  let text = '';
  let gap = '';
  for (const token of own(tokens)) {
    const block = renderBlock(token);
    if (block === '') continue;
    text += gap + block;
    gap = token.type === 'heading' || token.type === 'code' || token.type === 'table' ? '\n' : '\n\n';
  }
  return text;
}

function renderBlock(token: MarkedToken): string {
  switch (token.type) {
    case 'heading':
      return heading(token);
    case 'paragraph':
      return renderInline(token.tokens);
    case 'text':
      return token.tokens === undefined ? escapeMarkup(token.text) : renderInline(token.tokens);
    case 'code':
      return fenced(token.text, token.lang);
    case 'blockquote':
      return prefixLines(renderBlocks(token.tokens), '> ');
    case 'list':
      return list(token);
    case 'table':
      return fenced(alignedTable(token));
    case 'html':
      return escapeMarkup(token.text.trim());
    case 'hr':
      return '────────';
    case 'space':
    case 'def':
    case 'checkbox':
      return '';
    default:
      return renderInline([token]);
  }
}

function heading({ depth, tokens }: Tokens.Heading): string {
  return depth <= 3
    ? `${'#'.repeat(depth)} ${renderInline(tokens)}`
    : `**${escapeMarkup(plainText(tokens))}**`;
}

function list({ items, ordered, start }: Tokens.List): string {
  const lines = items.map((item, at) => {
    const sign = ordered ? `${Number(start || 1) + at}. ` : '- ';
    const box = item.task ? (item.checked === true ? '☑ ' : '☐ ') : '';
    const body = renderBlocks(item.tokens).replace(/\n{2,}/g, '\n');
    return sign + box + body.replaceAll('\n', `\n${' '.repeat(sign.length)}`);
  });
  return lines.join('\n');
}

function fenced(code: string, lang = ''): string {
  return codeBlock(code, /^[\w+#.-]{1,20}/.exec(lang)?.[0]);
}

const prefixLines = (text: string, prefix: string): string => prefix + text.replaceAll('\n', `\n${prefix}`);

function renderInline(tokens: readonly Token[] | undefined): string {
  return own(tokens).map(renderSpan).join('');
}

function renderSpan(token: MarkedToken): string {
  switch (token.type) {
    case 'strong':
      return `**${renderInline(token.tokens)}**`;
    case 'em':
      return `*${renderInline(token.tokens)}*`;
    case 'del':
      return `~~${renderInline(token.tokens)}~~`;
    case 'codespan':
      return inlineCode(token.text);
    case 'link':
      return link(token.href, plainText(token.tokens));
    case 'image':
      return link(token.href, token.text);
    case 'br':
      return '\n';
    case 'text':
      return token.tokens === undefined ? escapeMarkup(token.text) : renderInline(token.tokens);
    default:
      return escapeMarkup('text' in token ? token.text : token.raw);
  }
}

function inlineCode(code: string): string {
  if (!code.includes('`')) return `\`${code}\``;
  const padded = code.startsWith('`') || code.endsWith('`') ? ` ${code} ` : code;
  return `\`\`${padded.replace(/`(?=`)/g, '`\u200b')}\`\``;
}

/** Discord links to the web only; of any other address the text and the address stay readable. */
function link(href: string, text: string): string {
  const url = safeUrl(href);
  if (url === null || !/^https?:/.test(url)) {
    return text === href || href === '' ? escapeMarkup(text) : escapeMarkup(`${text} (${href})`);
  }
  if (text === '' || text === href || text === url) return bareUrl(url);
  return `[${escapeMarkup(text)}](${url.replaceAll('(', '%28').replaceAll(')', '%29')})`;
}

/** A bare address may run into what follows it; brackets in it must not make a link of that. */
const bareUrl = (url: string): string => url.replace(/[[\]<>`\\|]/g, encodeURIComponent);

/** Keeps Discord from reading marks in words: emphasis, spoilers, mentions, timestamps, and what begins a line. */
export function escapeMarkup(text: string): string {
  return text
    .replace(/[\\`*_~|<[\]]/g, '\\$&')
    .replace(/^([ \t]*)(#|>|-(?=[ #]))/gm, '$1\\$2')
    .replace(/^([ \t]*\d+)([.)](?= ))/gm, '$1\\$2');
}

/** Text in a code block. A fence within it is broken by a character that is not seen. */
export function codeBlock(text: string, language = ''): string {
  return `\`\`\`${language}\n${text.replace(/``(?=`)/g, '``\u200b')}\n\`\`\``;
}
