import type { MarkedToken, Token, Tokens } from 'marked';
import { own, plainText, readMarkdown } from './markdown.ts';
import { safeUrl } from './safe-url.ts';

/**
 * A model's Markdown as Telegram's rich Markdown (core.telegram.org/bots/api#rich-message-formatting-options). It is
 * written anew from its tokens, since Telegram's reading goes further than CommonMark: raw HTML, pictures fetched from
 * anywhere, mentions by link. Line breaks are kept, formulas pass. Send it with `skip_entity_detection`.
 */
export function toTelegramRich(markdown: string): string {
  return blocks(readMarkdown(markdown)).trim();
}

function blocks(tokens: readonly MarkedToken[]): string {
  return tokens.map(block).join('');
}

function block(token: MarkedToken): string {
  switch (token.type) {
    case 'space':
    case 'def':
      return '';
    case 'heading':
      return `${'#'.repeat(token.depth)} ${inline(token.tokens)}\n\n`;
    case 'code':
      return `${codeBlock(token)}\n\n`;
    case 'table':
      return token.header.length > mostColumns
        ? `${codeBlock({ text: token.raw.trim() })}\n\n`
        : `${table(token)}\n\n`;
    case 'blockquote':
      return `${blocks(own(token.tokens)).trim().replace(/^/gm, '> ')}\n\n`;
    case 'list':
      return `${list(token)}\n`;
    case 'hr':
      return '---\n\n';
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

/** Bot API: rich message limits. */
const mostColumns = 20;

/** The fence is longer than any run of backticks within. */
function codeBlock({ text: code, lang = '' }: { text: string; lang?: string | undefined }): string {
  const longest = Math.max(2, ...Array.from(code.matchAll(/`+/g), ([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}${/^[\w+#.-]{0,32}/.exec(lang)?.[0] ?? ''}\n${code}\n${fence}`;
}

function table({ header, rows, align }: Tokens.Table): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const cells = (row: readonly Tokens.TableCell[]) =>
    row.map((cell) =>
      inline(cell.tokens)
        .replace(/(?<!\\)\|/g, '\\|')
        .replaceAll('\\\n', ' '),
    );
  const rule = { left: ':--', center: ':-:', right: '--:' } as const;
  return [cells(header), align.map((side) => (side === null ? '---' : rule[side])), ...rows.map(cells)]
    .map(line)
    .join('\n');
}

function list({ items, ordered, start }: Tokens.List): string {
  const lines = items.map((item, index) => {
    const sign = ordered ? `${Number(start || 1) + index}.` : '-';
    const task = item.task ? (item.checked === true ? '[x] ' : '[ ] ') : '';
    const inside = blocks(own(item.tokens))
      .trim()
      .replace(/\n+(?=.)/g, (breaks) => breaks + ' '.repeat(sign.length + 1));
    return `${sign} ${task}${inside}\n`;
  });
  return lines.join('');
}

function inline(tokens: readonly Token[]): string {
  return own(tokens).map(span).join('');
}

function span(token: MarkedToken): string {
  switch (token.type) {
    case 'strong':
      return `**${inline(token.tokens)}**`;
    case 'em':
      return `_${inline(token.tokens)}_`;
    case 'del':
      return `~~${inline(token.tokens)}~~`;
    case 'codespan':
      return token.raw;
    case 'checkbox':
      return '';
    case 'br':
      return '\\\n';
    case 'link':
      return link(token.href, plainText(token.tokens), inline(token.tokens));
    case 'image':
      return link(token.href, token.text || token.href, text(token.text || token.href));
    case 'text':
      return token.tokens === undefined ? text(token.text) : inline(token.tokens);
    case 'escape':
      return token.raw;
    default:
      return text(token.raw);
  }
}

function link(href: string, name: string, label: string): string {
  const url = safeUrl(href);
  if (url === null || name.trim() === '') return label;
  return `[${label}](${url
    .replace(/[()\s<>]/g, encodeURIComponent)
    .replaceAll('(', '%28')
    .replaceAll(')', '%29')})`;
}

/** Raw HTML, pictures and links that CommonMark saw none of must not come to life in Telegram's reading. */
function text(plain: string): string {
  return plain
    .replace(/[<[\]]/g, '\\$&')
    .replace(/&(?=#?\w+;)/g, '&amp;')
    .replace(/ *\n/g, '\\\n');
}
