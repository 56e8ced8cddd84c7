import { randomBytes } from 'node:crypto';
/** What the emulated Discord holds. Everything is plain data that a test may read and change. */

export const channelTypes = {
  text: 0,
  dm: 1,
  announcement: 5,
  publicThread: 11,
  privateThread: 12,
  forum: 15,
} as const;
export const messageFlags = {
  suppressEmbeds: 1 << 2,
  hasThread: 1 << 5,
  ephemeral: 1 << 6,
  silent: 1 << 12,
} as const;
export const threadTypes: readonly number[] = [10, channelTypes.publicThread, channelTypes.privateThread];

export interface DiscordUser {
  id: string;
  name: string;
  locale: string;
  isBot: boolean;
}

export interface DiscordGuild {
  id: string;
  name: string;
  ownerId: string;
  roles: { id: string; name: string; botId?: string }[];
  members: Map<string, { roles: string[]; nick: string | null; timeoutUntil: string | null }>;
  bans: Map<string, string | null>;
}

export interface DiscordChannel {
  id: string;
  type: number;
  name: string;
  topic: string | null;
  guildId?: string;
  parentId?: string;
  ownerId?: string;
  /** The other person of a DM. */
  recipientId?: string;
  archived: boolean;
  /** The bot may not see it: every call answers 50001. */
  hidden: boolean;
  threadMembers: Set<string>;
}

export interface DiscordAttachment {
  id: string;
  name: string;
  mimeType: string;
  bytes: Buffer;
}

export interface DiscordMessage {
  id: string;
  channelId: string;
  authorId: string;
  type: number;
  content: string;
  embeds: Record<string, unknown>[];
  components: Record<string, unknown>[];
  attachments: DiscordAttachment[];
  flags: number;
  editedAt: number | null;
  reference?: { messageId: string; channelId: string };
  reactions: Map<string, Set<string>>;
  pinned: boolean;
  deleted: boolean;
  /** Who was notified by it: user ids, role ids, `everyone`. */
  pinged: string[];
  /** Every content that was shown under this id, oldest first. */
  shown: string[];
}

export interface Ephemeral {
  userId: string;
  channelId: string;
  content: string;
  at: number;
}

export interface World {
  users: Map<string, DiscordUser>;
  guilds: Map<string, DiscordGuild>;
  channels: Map<string, DiscordChannel>;
  messages: DiscordMessage[];
  ephemerals: Ephemeral[];
  commands: Record<string, unknown>[];
  /** How often the whole list of commands was written. */
  commandWrites: number;
  typing: { channelId: string; at: number }[];
  bot: DiscordUser;
  token: string;
  applicationId: string;
  /** Privileged intents that are switched on in the developer portal, as a bit field. */
  privilegedIntents: number;
  /** How many connections Discord advises to open. */
  advisedShards: number;
  nextId(atMs?: number): string;
}

const discordEpochMs = 1_420_070_400_000n;

export function snowflakeAt(atMs: number, increment = 0): string {
  return (((BigInt(atMs) - discordEpochMs) << 22n) + BigInt(increment)).toString();
}

export function timeOf(snowflake: string): number {
  return Number((BigInt(snowflake) >> 22n) + discordEpochMs);
}

export function createWorld(): World {
  let last = 0n;
  const nextId = (atMs = Date.now()): string => {
    const candidate = BigInt(snowflakeAt(atMs));
    if (atMs < Date.now() - 1000) return (candidate + BigInt(Math.floor(Math.random() * 4096))).toString();
    last = candidate > last ? candidate : last + 1n;
    return last.toString();
  };
  const bot = { id: nextId(Date.now() - 86_400_000), name: 'hermes', locale: 'en-US', isBot: true };
  return {
    users: new Map([[bot.id, bot]]),
    guilds: new Map(),
    channels: new Map(),
    messages: [],
    ephemerals: [],
    commands: [],
    commandWrites: 0,
    typing: [],
    bot,
    // One gateway a token on a machine: runs side by side need bots of their own.
    token: `MTIzNDU2Nzg5MDEyMzQ1Njc4.emulat.${randomBytes(20).toString('hex')}`,
    applicationId: bot.id,
    privilegedIntents: 1 << 15,
    advisedShards: 1,
    nextId,
  };
}

export const messagesOf = (world: World, channelId: string): DiscordMessage[] =>
  world.messages.filter((message) => message.channelId === channelId && !message.deleted);

export const findMessage = (world: World, channelId: string, id: string): DiscordMessage | undefined =>
  world.messages.find((message) => message.id === id && message.channelId === channelId && !message.deleted);

export const isThread = (channel: DiscordChannel): boolean => threadTypes.includes(channel.type);

export function newMessage(
  world: World,
  fields: Pick<DiscordMessage, 'channelId' | 'authorId' | 'content'> & Partial<DiscordMessage>,
): DiscordMessage {
  return {
    id: world.nextId(),
    type: 0,
    embeds: [],
    components: [],
    attachments: [],
    flags: 0,
    editedAt: null,
    reactions: new Map(),
    pinned: false,
    deleted: false,
    pinged: [],
    shown: [fields.content],
    ...fields,
  };
}
