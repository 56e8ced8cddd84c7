/** What Telegram makes of `parse_mode: HTML`: the text without tags, or why it refuses. */
export type HtmlReading = { text: string; error?: undefined } | { text?: undefined; error: string };

const allowedTags: ReadonlySet<string> = new Set(
  'b strong i em u ins s strike del code pre a blockquote tg-spoiler span tg-emoji'.split(' '),
);
const entities: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"' };
const tag = /<(\/?)([a-z][a-z0-9-]*)((?:\s+[a-z-]+(?:="[^"<>]*")?)*)\s*>/iy;

/** core.telegram.org/bots/api#html-style: known tags only, balanced, `<` and `&` escaped, quotes and code not nested. */
export function checkTelegramHtml(html: string): HtmlReading {
  const open: string[] = [];
  let text = '';
  for (let at = 0; at < html.length; ) {
    const character = html[at] ?? '';
    if (character === '<') {
      tag.lastIndex = at;
      const [whole, slash, name = ''] = tag.exec(html) ?? [];
      if (whole === undefined) return refuse(`Unsupported start tag at byte offset ${at}`);
      const fault = slash === '/' ? closeTag(open, name) : openTag(open, name);
      if (fault !== undefined) return refuse(`${fault} at byte offset ${at}`);
      at += whole.length;
    } else if (character === '&') {
      const [whole = '&', name = ''] = /^&(#?\w+);/.exec(html.slice(at, at + 12)) ?? [];
      text += entities[name] ?? whole;
      at += whole.length;
    } else {
      const next = html.slice(at).search(/[<&]/);
      const end = next < 0 ? html.length : at + next;
      text += html.slice(at, end);
      at = end;
    }
  }
  return open.length === 0
    ? { text: text.trim() }
    : refuse(`Can't find end tag corresponding to start tag "${open.at(-1)}"`);
}

function refuse(why: string): HtmlReading {
  return { error: `Bad Request: can't parse entities: ${why}` };
}

function openTag(open: string[], name: string): string | undefined {
  if (!allowedTags.has(name)) return `Unsupported start tag "${name}"`;
  const within = open.at(-1);
  if (open.includes('code') || (within === 'pre' && name !== 'code')) return `Tag "${name}" within code`;
  if (name === 'blockquote' && open.includes(name)) return 'Nested blockquote';
  open.push(name);
  return undefined;
}

function closeTag(open: string[], name: string): string | undefined {
  return open.pop() === name ? undefined : `Unmatched end tag "${name}"`;
}
