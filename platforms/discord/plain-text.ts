import type { WireMessage } from './wire.ts';

export interface Names {
  botId: string;
  /** The role that Discord made for the bot; people often pick it when they mean the bot. */
  botRoleId: string | undefined;
  channelName(id: string): string | undefined;
  roleName(id: string): string | undefined;
}

export function mentionsBot(message: WireMessage, { botId, botRoleId }: Names): boolean {
  if (new RegExp(`<@!?${botId}>`).test(message.content)) return true;
  return botRoleId !== undefined && message.mention_roles.includes(botRoleId);
}

/** What a person would read: mentions by name, custom emoji by their word, the bot's own mention left out. */
export function plainText(message: WireMessage, names: Names): string {
  const people = new Map(message.mentions.map((user) => [user.id, user.global_name ?? user.username]));
  const forwarded = message.message_snapshots?.[0]?.message.content ?? '';
  return (message.content || forwarded)
    .replace(/<@!?(\d+)>/g, (whole, id: string) =>
      id === names.botId ? '' : named('@', people.get(id), whole),
    )
    .replace(/<@&(\d+)>/g, (whole, id: string) =>
      id === names.botRoleId ? '' : named('@', names.roleName(id), whole),
    )
    .replace(/<#(\d+)>/g, (whole, id: string) => named('#', names.channelName(id), whole))
    .replace(/<a?:(\w+):\d+>/g, ':$1:')
    .replace(/<\/([-\w ]+):\d+>/g, '/$1')
    .trim();
}

const named = (sign: string, name: string | undefined, otherwise: string): string =>
  name === undefined ? otherwise : `${sign}${name}`;

const titleUnits = 80;

/** A thread's name from the text that opens it: its first line, cut at a word. Discord allows 100 characters. */
export function threadTitle(text: string, authorName: string): string {
  return titleOf(text) || `Chat with ${authorName}`.slice(0, titleUnits);
}

/** The first line of a text without its markup, cut at a word; empty when there is none. */
export function titleOf(text: string): string {
  const line = text.split('\n').find((candidate) => candidate.trim() !== '') ?? '';
  const flat = line
    .replace(/[`*_~|#>]/g, '')
    .replace(/\s+/g, ' ')
    .trim();
  if (flat.length <= titleUnits) return flat;
  const cut = flat
    .slice(0, titleUnits - 1)
    .toWellFormed()
    .replace(/\uFFFD$/, '');
  const atWord = cut.lastIndexOf(' ') > titleUnits / 2 ? cut.slice(0, cut.lastIndexOf(' ')) : cut;
  return `${atWord.trimEnd()}…`;
}
