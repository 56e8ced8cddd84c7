import type { MarkedToken, Token, Tokens } from 'marked';
import { own, plainText, readMarkdown } from './markdown.ts';
import { safeUrl } from './safe-url.ts';
import { alignedTable } from './table.ts';

/** Escapes text for Telegram's HTML. core.telegram.org/bots/api#html-style */
export function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('\0', '');
}

/**
 * Markdown as Telegram's HTML: tags balanced, everything of the model's escaped, links to safe places only. Telegram
 * finds `@name` in plain text by itself, so an invisible character breaks it.
 */
export function toTelegramHtml(markdown: string): string {
  return blocks(readMarkdown(markdown), false).trim();
}

function blocks(tokens: readonly MarkedToken[], quoted: boolean): string {
  return tokens.map((token) => block(token, quoted)).join('');
}

/** Telegram refuses a quote within a quote, so the inner one is marked by its sign. */
function block(token: MarkedToken, quoted: boolean): string {
  switch (token.type) {
    case 'space':
    case 'def':
      return '';
    case 'heading':
      return `<b>${inline(token.tokens)}</b>\n\n`;
    case 'code':
      return `${codeBlock(token.text, token.lang)}\n\n`;
    case 'table':
      return `<pre>${escapeHtml(alignedTable(token))}</pre>\n\n`;
    case 'blockquote': {
      const inside = blocks(own(token.tokens), true).trim();
      return quoted ? `${inside.replace(/^/gm, '&gt; ')}\n` : `<blockquote>${inside}</blockquote>\n\n`;
    }
    case 'list':
      return `${list(token, quoted)}\n`;
    case 'hr':
      return '———\n\n';
    case 'html':
      return `${text(token.text.trim())}\n\n`;
    case 'paragraph':
      return `${inline(token.tokens)}\n\n`;
    case 'text':
      return `${inline(token.tokens ?? [token])}\n`;
    default:
      return inline([token]);
  }
}

function codeBlock(code: string, language: string | undefined): string {
  const name = /^[\w+#.-]{1,32}/.exec(language ?? '')?.[0];
  const inside = escapeHtml(code);
  return name === undefined
    ? `<pre>${inside}</pre>`
    : `<pre><code class="language-${name}">${inside}</code></pre>`;
}

function list({ items, ordered, start }: Tokens.List, quoted: boolean): string {
  const lines = items.map((item, index) => {
    const sign = item.task ? taskSign(item) : ordered ? `${Number(start || 1) + index}.` : '•';
    return `${sign} ${indent(blocks(own(item.tokens), quoted).trim())}\n`;
  });
  return lines.join('');
}

function taskSign(item: Tokens.ListItem): string {
  return item.checked === true ? '☑' : '☐';
}

/** Moves the lines after the first under their bullet; code keeps its own columns. */
function indent(html: string): string {
  return html
    .split(/(<pre>[\s\S]*?<\/pre>)/)
    .map((part) => (part.startsWith('<pre>') ? part : part.replace(/\n+(?=.)/g, '\n    ')))
    .join('');
}

function inline(tokens: readonly Token[]): string {
  return own(tokens).map(span).join('');
}

function span(token: MarkedToken): string {
  switch (token.type) {
    case 'strong':
      return `<b>${inline(token.tokens)}</b>`;
    case 'em':
      return `<i>${inline(token.tokens)}</i>`;
    case 'del':
      return `<s>${inline(token.tokens)}</s>`;
    case 'codespan':
      return `<code>${escapeHtml(token.text)}</code>`;
    case 'checkbox':
      return '';
    case 'br':
      return '\n';
    case 'link':
      return link(token.href, plainText(token.tokens), inline(token.tokens));
    case 'image':
      return link(token.href, token.text, text(token.text || token.href));
    case 'text':
      return token.tokens === undefined ? text(token.text) : inline(token.tokens);
    case 'escape':
    case 'html':
      return text(token.text);
    default:
      return text(token.raw);
  }
}

function link(href: string, name: string, label: string): string {
  const url = safeUrl(href);
  if (url === null || name.trim() === '') return label;
  return `<a href="${escapeHtml(url).replaceAll('"', '&quot;')}">${label}</a>`;
}

function text(plain: string): string {
  return escapeHtml(breakMentions(plain));
}

const wordJoiner = '\u2060';

/** `@name` becomes no mention: a character of no width stands after the sign. */
export function breakMentions(plain: string): string {
  return plain.replace(/(?<![\w.+-])@(?=\w)/g, `@${wordJoiner}`);
}
