/** Looks a person's display name up; undefined when it is not known. */
export type NameOf = (userId: string) => string | undefined;

const markup = /<([^<>\n]+)>/g;
const entities: Readonly<Record<string, string>> = { '&lt;': '<', '&gt;': '>', '&amp;': '&' };
/** `!stop` stands for `/stop`, which Slack does not let anyone write in a thread. */
const bangCommand = /^!([a-z][a-z0-9_-]*)(?=\s|$)/i;

/** Whether the text holds a mention of this user. */
export function mentions(text: string, userId: string): boolean {
  return text.includes(`<@${userId}>`) || text.includes(`<@${userId}|`);
}

/** Everyone whom the text mentions. */
export function mentionedUsers(text: string): string[] {
  return [...text.matchAll(/<@([UW][A-Z0-9]+)(?:\|[^>]*)?>/g)].flatMap(([, id]) =>
    id === undefined ? [] : [id],
  );
}

/**
 * Slack's markup as plain text: mentions, channels and links by name, entities decoded, the bot's own mention at the
 * start gone, `!command` as `/command`.
 */
export function readText(text: string, botUserId: string, nameOf: NameOf): string {
  const spoken = text.replace(new RegExp(`^(\\s*<@${botUserId}(\\|[^>]*)?>[\\s,:]*)+`), '');
  const plain = spoken
    .replace(markup, (_whole, inner: string) => readMarkup(inner, nameOf))
    .replace(/&(?:lt|gt|amp);/g, (entity) => entities[entity] ?? entity)
    .trim();
  return plain.replace(bangCommand, '/$1');
}

// docs.slack.dev/messaging/formatting-message-text
function readMarkup(inner: string, nameOf: NameOf): string {
  const bar = inner.indexOf('|');
  const target = bar === -1 ? inner : inner.slice(0, bar);
  const label = bar === -1 ? undefined : inner.slice(bar + 1);
  if (target.startsWith('@')) return `@${label ?? nameOf(target.slice(1)) ?? target.slice(1)}`;
  if (target.startsWith('#')) return `#${label ?? target.slice(1)}`;
  if (target.startsWith('!subteam^')) return label ?? '@group';
  if (target.startsWith('!date^')) return label ?? '';
  if (target.startsWith('!')) return `@${target.slice(1)}`;
  const url = target.replace(/^mailto:/, '');
  return label === undefined || label === url || label === target ? url : `${label} (${target})`;
}
