import { escapeMarkup } from '../format/discord-markdown.ts';

const urls = /https?:\/\/[^\s<>]+/g;

/** Plain text that Discord shows as it is: no markup, no mention, no timestamp. Addresses stay whole. */
export function escapePlain(text: string): string {
  let escaped = '';
  let at = 0;
  for (const url of text.matchAll(urls)) {
    escaped += escapeMarkup(text.slice(at, url.index)) + url[0];
    at = url.index + url[0].length;
  }
  return escaped + escapeMarkup(text.slice(at));
}

/** One line of code within text. */
export function inlineCode(text: string): string {
  const flat = text.replace(/\s+/g, ' ').replaceAll('`', 'ˋ').trim();
  return flat === '' ? '' : `\`${flat}\``;
}

/** At most `limit` UTF-16 units, with an ellipsis for what was cut, and never half a character. */
export function cutTo(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const head = text.slice(0, Math.max(0, limit - 1));
  const half = /[\uD800-\uDBFF]$/.test(head);
  return `${half ? head.slice(0, -1) : head}…`;
}
