import type { Attachment, ChatAddress, InboundEvent, PlatformSink, Sender } from '../platform.ts';
import { readAttachments } from './attachments.ts';
import { type ChannelFacts, type Channels, directChannel, threadChat } from './channels.ts';
import { type GateFacts, judge } from './gate.ts';
import type { DiscordSettings } from './options.ts';
import { mentionsBot, type Names, plainText } from './plain-text.ts';
import type { Threads } from './threads.ts';
import type { WireMessage } from './wire.ts';

export interface InboundDeps {
  settings: DiscordSettings;
  channels: Channels;
  threads: Threads;
  names(guildId: string | undefined): Names;
  /** Roles and nickname, which messages read from history lack; undefined when Discord won't say. */
  member(guildId: string, userId: string): Promise<Member | undefined>;
}

export type Member = NonNullable<WireMessage['member']>;

/** What people write: an ordinary message and a reply. Everything else is Discord's own chatter. */
const spokenTypes: readonly number[] = [0, 19];

/** Turns a message into an event for the gateway, or into nothing when it is not for the bot. */
export function createInbound({ settings, channels, threads, names, member }: InboundDeps) {
  /** Resolves with whether it was for the bot, and so is stored. */
  async function onMessage(message: WireMessage, sink: PlatformSink): Promise<boolean> {
    const event = await read(message);
    if (event === undefined) return false;
    await sink.receive({ ...event, eventId: `m${message.id}`, kind: 'message' });
    return true;
  }

  async function onEdit(message: WireMessage, sink: PlatformSink): Promise<void> {
    // Discord also reports a message as changed when it has looked at a link; only people's edits carry this mark.
    if (!message.edited_timestamp) return;
    const event = await read(message);
    const eventId = `e${message.id}-${Date.parse(message.edited_timestamp)}`;
    if (event !== undefined) await sink.receive({ ...event, eventId, kind: 'edit' });
  }

  async function read(message: WireMessage): Promise<Omit<InboundEvent, 'eventId' | 'kind'> | undefined> {
    if (!spokenTypes.includes(message.type)) return undefined;
    const known = names(message.guild_id);
    const author = authorOf(message, known.botId);
    if (author === 'self') return undefined;
    // A message without a server is a direct one; there is nothing to look up.
    const channel =
      message.guild_id === undefined
        ? directChannel(message.channel_id)
        : await channels.get(message.channel_id);
    const facts: GateFacts = {
      channel,
      author,
      mentioned: mentionsBot(message, known),
      repliesToBot: message.referenced_message?.author.id === known.botId,
      takesPart:
        channel.kind === 'thread' && (channel.ownerId === known.botId || threads.takesPart(channel.id)),
    };
    const verdict = judge(facts, settings);
    if (!verdict.pass) return undefined;
    // From here on the bot is spoken to in this thread without a mention.
    if (channel.kind === 'thread') await threads.join(channel.id);
    const sender = senderOf(message, await memberOf(message));
    // The thread on a message has the message's id; it is opened with the bot's first sign.
    const chat = verdict.openThread
      ? threadChat(channel.id, message.id)
      : threads.chatIn(channel, message.referenced_message);
    return eventOf(message, channel, chat, plainText(message, known), sender);
  }

  async function memberOf({ author, guild_id: guildId, member: known, webhook_id: webhook }: WireMessage) {
    if (known !== undefined || guildId === undefined || webhook !== undefined) return known;
    return member(guildId, author.id);
  }

  function eventOf(
    message: WireMessage,
    channel: ChannelFacts,
    chat: ChatAddress,
    text: string,
    sender: Sender,
  ): Omit<InboundEvent, 'eventId' | 'kind'> {
    const attachments: Attachment[] = readAttachments(message);
    const replied = message.referenced_message;
    return {
      chat,
      ...(channel.name === undefined ? {} : { chatTitle: channel.name }),
      sender,
      messageId: message.id,
      text,
      addressed: true,
      ...(replied
        ? {
            replyTo: {
              messageId: replied.id,
              text: replied.content,
              toBot: replied.author.id === names(message.guild_id).botId,
            },
          }
        : {}),
      attachments,
      sentAt: Date.parse(message.timestamp),
    };
  }

  return { onMessage, onEdit };
}

function authorOf(message: WireMessage, botId: string): GateFacts['author'] {
  if (message.author.id === botId || message.application_id === botId) return 'self';
  return message.author.bot === true || message.webhook_id !== undefined ? 'bot' : 'person';
}

function senderOf({ author, webhook_id: webhook }: WireMessage, member: Member | undefined): Sender {
  return {
    id: author.id,
    name: member?.nick ?? author.global_name ?? author.username,
    isBot: author.bot === true || webhook !== undefined,
    ...(member?.roles === undefined ? {} : { roles: member.roles }),
  };
}
