import type { ChatAddress, InboundEvent, PlatformSink, Sender } from '../platform.ts';
import { addressOf } from './address.ts';
import { readAttachments } from './attachments.ts';
import type { InTurn } from './in-turn.ts';
import { mentionedUsers, mentions, readText } from './inbound-text.ts';
import { channelAllowed, type SlackSettings } from './options.ts';
import type { People } from './people.ts';
import type { Seen } from './seen.ts';
import type { ThreadHistory } from './thread-history.ts';
import type { Threads } from './threads.ts';
import { type MessageEvent, type SlackMessage, tsToMs } from './wire.ts';
import type { Workspace } from './workspaces.ts';

/** Message subtypes that somebody said something with; all others are notices of Slack's. */
const spoken: ReadonlySet<string | undefined> = new Set([
  undefined,
  'file_share',
  'thread_broadcast',
  'me_message',
  'bot_message',
]);

export interface InboundDeps {
  settings: SlackSettings;
  people: People;
  threads: Threads;
  history: ThreadHistory;
  seen: Seen;
  inTurn: InTurn;
}

export interface Inbound {
  /** Resolves once the gateway has stored the event, or it turned out to be none of its business. */
  handle(event: MessageEvent, workspace: Workspace, sink: PlatformSink): Promise<void>;
}

/** Turns message events, live or caught up on, into the gateway's inbound events. */
export function createInbound(deps: InboundDeps): Inbound {
  const { settings, people, threads, history, seen, inTurn } = deps;

  async function handle(event: MessageEvent, workspace: Workspace, sink: PlatformSink): Promise<void> {
    if (!channelAllowed(settings, event.channel)) return;
    if (event.subtype === 'message_changed') return edited(event, workspace, sink);
    if (!spoken.has(event.subtype) || isOwn(event, workspace)) return;
    // One conversation in order: an event that waits for its thread's history must not be overtaken.
    await inTurn(conversationOf(event, workspace), () => said(event, workspace, sink));
  }

  /** A channel's root messages are conversations of their own where each is answered in its thread. */
  function conversationOf(event: MessageEvent, { teamId }: Workspace): string {
    const ownThread = settings.replyInThread && !event.channel.startsWith('D');
    return `${teamId}:${event.channel}:${event.thread_ts ?? (ownThread ? event.ts : '')}`;
  }

  async function said(event: MessageEvent, workspace: Workspace, sink: PlatformSink): Promise<void> {
    const mentioned = mentions(event.text ?? '', workspace.botUserId);
    if (fromBot(event) && !botAllowed(mentioned)) return;
    const chat = chatOf(event, workspace, mentioned);
    const addressed = mentioned || (await isAddressed(event, chat, workspace));
    if (addressed && chat.threadId !== undefined) {
      const thread = { teamId: workspace.teamId, channel: event.channel, threadTs: chat.threadId };
      if (event.thread_ts !== undefined && !(await threads.follows(thread))) {
        await tellHistory(event, chat, workspace, sink);
      }
      await threads.follow(thread);
    }
    await sink.receive(await toEvent(event, chat, workspace, { kind: 'message', addressed }));
    await seen.note(workspace.teamId, event.channel, event.ts);
  }

  /** Only a real edit counts: Slack also says "changed" when it unfurls a link or adds a reply. */
  async function edited(event: MessageEvent, workspace: Workspace, sink: PlatformSink): Promise<void> {
    const { message, previous_message: previous } = event;
    if (message?.edited?.ts === undefined || message.text === previous?.text || isOwn(message, workspace))
      return;
    const mentioned = mentions(message.text ?? '', workspace.botUserId);
    if (fromBot(message) && !botAllowed(mentioned)) return;
    const merged: MessageEvent = {
      ...message,
      type: 'message',
      channel: event.channel,
      channel_type: event.channel_type,
    };
    const chat = chatOf(merged, workspace, mentioned);
    const addressed =
      mentioned || chat.kind === 'dm' || isFree(event.channel) || (await followsThread(merged, workspace));
    const inbound = await toEvent(merged, chat, workspace, { kind: 'edit', addressed });
    await sink.receive({ ...inbound, eventId: `${inbound.eventId}:edit:${message.edited.ts}` });
  }

  async function tellHistory(
    event: MessageEvent,
    chat: ChatAddress,
    workspace: Workspace,
    sink: PlatformSink,
  ) {
    const threadTs = event.thread_ts ?? event.ts;
    for (const earlier of await history.before(workspace, event.channel, threadTs, event.ts)) {
      if (!spoken.has(earlier.subtype)) continue;
      const told: MessageEvent = { ...earlier, type: 'message', channel: event.channel };
      const context = await toEvent(told, chat, workspace, { kind: 'context', addressed: false });
      await sink.receive({ ...context, eventId: `context:${context.eventId}` });
    }
  }

  async function toEvent(
    event: MessageEvent,
    chat: ChatAddress,
    workspace: Workspace,
    { kind, addressed }: Pick<InboundEvent, 'kind' | 'addressed'>,
  ): Promise<InboundEvent> {
    const raw = spokenText(event);
    const [sender] = await Promise.all([
      senderOf(event, workspace),
      ...mentionedUsers(raw).map((id) => people.find(workspace, id)),
    ]);
    return {
      eventId: `${workspace.teamId}:${event.channel}:${event.ts}`,
      kind,
      chat,
      sender,
      messageId: event.ts,
      text: readText(raw, workspace.botUserId, (id) => people.peek(workspace, id)?.name),
      addressed,
      attachments: readAttachments(event.files, workspace.teamId),
      sentAt: tsToMs(event.ts),
    };
  }

  async function senderOf(event: SlackMessage, workspace: Workspace): Promise<Sender> {
    if (event.user === undefined) {
      return { id: event.bot_id ?? '', name: event.username ?? event.bot_id ?? 'bot', isBot: true };
    }
    const { name, locale, isBot } = await people.find(workspace, event.user);
    return {
      id: event.user,
      name,
      isBot: isBot || fromBot(event),
      ...(locale === undefined ? {} : { locale }),
    };
  }

  /** A mention in a channel opens a thread under it; a DM keeps its main flow unless it is in a thread. */
  function chatOf(event: MessageEvent, workspace: Workspace, mentioned: boolean): ChatAddress {
    const room = addressOf({
      teamId: workspace.teamId,
      channel: event.channel,
      channelType: event.channel_type,
    });
    const opens = room.kind !== 'dm' && settings.replyInThread && (mentioned || isFree(event.channel));
    const threadTs = event.thread_ts ?? (opens ? event.ts : undefined);
    return addressOf({
      teamId: workspace.teamId,
      channel: event.channel,
      channelType: event.channel_type,
      threadTs,
    });
  }

  /** Whether a message without a mention is for the bot. */
  async function isAddressed(event: MessageEvent, chat: ChatAddress, workspace: Workspace): Promise<boolean> {
    if (chat.kind === 'dm' || isFree(event.channel)) return true;
    return !settings.strictMention && (await followsThread(event, workspace));
  }

  async function followsThread(event: MessageEvent, workspace: Workspace): Promise<boolean> {
    if (event.thread_ts === undefined || event.thread_ts === event.ts) return false;
    if (event.parent_user_id === workspace.botUserId) return true;
    return threads.follows({ teamId: workspace.teamId, channel: event.channel, threadTs: event.thread_ts });
  }

  const isFree = (channel: string) =>
    !settings.requireMention || settings.freeResponseChannels.includes(channel);
  const botAllowed = (mentioned: boolean) =>
    settings.allowBots === 'all' || (settings.allowBots === 'mentions' && mentioned);

  return { handle };
}

function isOwn(message: SlackMessage, { botUserId, botId }: Workspace): boolean {
  return (
    message.user === botUserId ||
    (message.bot_id !== undefined && message.bot_id !== null && message.bot_id === botId)
  );
}

function fromBot(message: SlackMessage): boolean {
  return message.subtype === 'bot_message' || (message.bot_id !== undefined && message.bot_id !== null);
}

/** Messages of other apps often carry their words in attachments alone. */
function spokenText({ text, attachments }: SlackMessage): string {
  if (text) return text;
  return (attachments ?? []).flatMap((part) => part.text ?? part.fallback ?? []).join('\n');
}
