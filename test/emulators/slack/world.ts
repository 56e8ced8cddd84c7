/** What the Slack emulator knows: workspaces, people, conversations, messages, files. Plain state, no protocol. */

export interface SlackUser {
  id: string;
  name: string;
  realName: string;
  locale: string;
  isBot: boolean;
}

export interface SlackTeam {
  id: string;
  name: string;
  botToken: string;
  botUserId: string;
  botId: string;
  scopes: string[];
}

export type ChannelType = 'im' | 'mpim' | 'channel' | 'group';

export interface SlackChannel {
  id: string;
  teamId: string;
  name: string;
  type: ChannelType;
  members: Set<string>;
  archived: boolean;
}

export interface SlackFile {
  id: string;
  teamId: string;
  name: string;
  title: string;
  mimetype: string;
  bytes: Buffer;
  user: string;
  subtype?: string;
  uploaded: boolean;
  external: boolean;
  shares: { channel: string; ts: string; threadTs?: string }[];
}

export interface SlackMessage {
  ts: string;
  channel: string;
  user: string;
  botId?: string;
  subtype?: string;
  text: string;
  blocks: Record<string, unknown>[];
  threadTs?: string;
  metadata?: unknown;
  files: SlackFile[];
  editedTs?: string;
  reactions: Map<string, Set<string>>;
  /** Set while a native stream is open on it. */
  streaming: boolean;
  /** Markdown of a native stream, as far as it came. */
  streamText?: string;
  deleted: boolean;
  /** Every text that the message has shown, oldest first. */
  shown: string[];
}

/** A message that one person alone sees; Slack keeps it nowhere. */
export interface SlackEphemeral {
  channel: string;
  user: string;
  text: string;
  blocks: Record<string, unknown>[];
  threadTs?: string;
}

export interface SlackView {
  id: string;
  teamId: string;
  userId: string;
  view: Record<string, unknown>;
  open: boolean;
}

export interface World {
  teams: Map<string, SlackTeam>;
  users: Map<string, SlackUser>;
  channels: Map<string, SlackChannel>;
  messages: SlackMessage[];
  ephemerals: SlackEphemeral[];
  files: Map<string, SlackFile>;
  views: Map<string, SlackView>;
  /** Assistant threads by `channel:thread_ts`: their status line and suggested prompts. */
  threads: Map<string, { status: string; statuses: string[]; prompts: { title: string; message: string }[] }>;
  nextId(prefix: string): string;
  nextTs(): string;
}

export function createWorld(): World {
  let counter = 0;
  let lastMicros = 0;
  return {
    teams: new Map(),
    users: new Map(),
    channels: new Map(),
    messages: [],
    ephemerals: [],
    files: new Map(),
    views: new Map(),
    threads: new Map(),
    nextId(prefix) {
      counter += 1;
      return `${prefix}${counter.toString(36).toUpperCase().padStart(9, '0')}`;
    },
    nextTs() {
      lastMicros = Math.max(Date.now() * 1000, lastMicros + 1);
      return `${Math.floor(lastMicros / 1e6)}.${String(lastMicros % 1e6).padStart(6, '0')}`;
    },
  };
}

/** Posts a message; what is not given is empty. */
export function addMessage(
  world: World,
  message: Pick<SlackMessage, 'channel' | 'user' | 'text'> & Partial<SlackMessage>,
): SlackMessage {
  const posted: SlackMessage = {
    ts: world.nextTs(),
    blocks: [],
    files: [],
    reactions: new Map(),
    streaming: false,
    deleted: false,
    shown: [message.text],
    ...message,
  };
  world.messages.push(posted);
  for (const file of posted.files) {
    const { channel, ts, threadTs } = posted;
    file.shares.push({ channel, ts, ...(threadTs === undefined ? {} : { threadTs }) });
  }
  return posted;
}

export function findMessage(world: World, channel: string, ts: string): SlackMessage | undefined {
  return world.messages.find(
    (message) => message.channel === channel && message.ts === ts && !message.deleted,
  );
}

/** The state kept of one thread's assistant features, made on first use. */
export function threadState(world: World, channel: string, threadTs: string) {
  const key = `${channel}:${threadTs}`;
  const known = world.threads.get(key);
  if (known !== undefined) return known;
  const fresh = { status: '', statuses: [], prompts: [] };
  world.threads.set(key, fresh);
  return fresh;
}
