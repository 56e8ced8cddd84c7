import type { MarkedToken, Token, Tokens } from 'marked';
import { own, readMarkdown } from './markdown.ts';
import { safeUrl } from './safe-url.ts';
import { alignedTable } from './table.ts';

/** Slack's three control characters. docs.slack.dev/messaging/formatting-message-text, "Escaping text" */
export function escapeMrkdwn(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** Markdown in Slack's older markup. docs.slack.dev/messaging/formatting-message-text */
export function toSlackMrkdwn(markdown: string): string {
  return blocks(readMarkdown(markdown)).trim();
}

function blocks(tokens: readonly Token[]): string {
  return own(tokens).map(block).join('');
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
      return `\`\`\`\n${escapeMrkdwn(alignedTable(token))}\n\`\`\`\n`;
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

function inline(tokens: readonly Token[]): string {
  return own(tokens).map(span).join('');
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

function link(href: string, label: string): string {
  const url = safeUrl(href);
  if (url === null) return label;
  const target = escapeMrkdwn(url).replaceAll('|', '%7C');
  return label === '' ? `<${target}>` : `<${target}|${label.replaceAll('|', '¦')}>`;
}
