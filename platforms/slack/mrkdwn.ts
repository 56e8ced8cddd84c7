import { lexer, type MarkedToken, type Token, type Tokens } from 'marked';
import { escapeMrkdwn } from './escape.ts';
import { isSafeUrl } from './safe-url.ts';

/** Markdown in Slack's older markup. docs.slack.dev/messaging/formatting-message-text */
export function toMrkdwn(markdown: string): string {
  return blocks(lexer(markdown)).trim();
}

function blocks(tokens: readonly Token[]): string {
  return tokens.filter(isOwn).map(block).join('');
}

/** The lexer runs without extensions, so every token is one of its own; the compiler needs to be shown. */
function isOwn(token: Token): token is MarkedToken {
  return !('renderer' in token);
}

function block(token: MarkedToken): string {
  switch (token.type) {
    case 'space':
      return '\n';
    case 'heading':
      return `*${inline(token.tokens).replaceAll('*', '')}*\n`;
    case 'code':
      return `\`\`\`\n${escapeMrkdwn(token.text)}\n\`\`\`\n`;
    case 'blockquote':
      return `${blocks(token.tokens).trimEnd().replace(/^/gm, '> ')}\n`;
    case 'list':
      return list(token);
    case 'table':
      return `\`\`\`\n${escapeMrkdwn(table(token))}\n\`\`\`\n`;
    case 'hr':
      return '───\n';
    case 'html':
      return escapeMrkdwn(token.text);
    case 'paragraph':
      return `${inline(token.tokens)}\n`;
    case 'text':
      return `${inline(token.tokens ?? [token])}\n`;
    default:
      return inline([token]);
  }
}

function list({ items, ordered, start }: Tokens.List): string {
  const lines = items.map((item, index) => {
    const sign = item.task
      ? item.checked === true
        ? '☑'
        : '☐'
      : ordered
        ? `${Number(start || 1) + index}.`
        : '•';
    return `${sign} ${blocks(item.tokens).trim().replaceAll('\n', '\n    ')}\n`;
  });
  return lines.join('');
}

/** Columns of equal width; Slack's older markup has no tables. */
function table({ header, rows }: Tokens.Table): string {
  const grid = [header, ...rows].map((row) => row.map((cell) => cell.text.replace(/[*_`~]/g, '')));
  const widths = header.map((_cell, column) =>
    Math.max(...grid.map((row) => [...(row[column] ?? '')].length)),
  );
  const line = (row: readonly string[]) =>
    row
      .map((cell, column) => cell + ' '.repeat((widths[column] ?? 0) - [...cell].length))
      .join(' | ')
      .trimEnd();
  const [head = [], ...body] = grid;
  return [line(head), widths.map((width) => '-'.repeat(width)).join('-|-'), ...body.map(line)].join('\n');
}

function inline(tokens: readonly Token[]): string {
  return tokens.filter(isOwn).map(span).join('');
}

function span(token: MarkedToken): string {
  switch (token.type) {
    case 'strong':
      return `*${inline(token.tokens)}*`;
    case 'em':
      return `_${inline(token.tokens)}_`;
    case 'del':
      return `~${inline(token.tokens)}~`;
    case 'codespan':
      return `\`${escapeMrkdwn(token.text)}\``;
    case 'checkbox':
      return '';
    case 'br':
      return '\n';
    case 'link':
      return link(token.href, inline(token.tokens));
    case 'image':
      return link(token.href, escapeMrkdwn(token.text));
    case 'text':
      return token.tokens === undefined ? escapeMrkdwn(token.text) : inline(token.tokens);
    case 'escape':
    case 'html':
      return escapeMrkdwn(token.text);
    default:
      return escapeMrkdwn(token.raw);
  }
}

function link(url: string, label: string): string {
  if (!isSafeUrl(url)) return label;
  const target = escapeMrkdwn(new URL(url).href).replaceAll('|', '%7C');
  return label === '' ? `<${target}>` : `<${target}|${label.replaceAll('|', '¦')}>`;
}
