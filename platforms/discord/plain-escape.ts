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

/** Keeps Discord from reading marks in words: emphasis, spoilers, mentions, timestamps, and what begins a line. */
export function escapeMarkup(text: string): string {
  return text
    .replace(/[\\`*_~|<[\]]/g, '\\$&')
    .replace(/^([ \t]*)(#|>|-(?=[ #]))/gm, '$1\\$2')
    .replace(/^([ \t]*\d+)([.)](?= ))/gm, '$1\\$2');
}

/** Text in a code block. A fence within it is broken by a character that is not seen. */
export function codeBlock(text: string, language = ''): string {
  return `\`\`\`${language}\n${breakFences(text)}\n\`\`\``;
}

const breakFences = (text: string): string => text.replaceAll('```', '`\u200b`\u200b`');

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
