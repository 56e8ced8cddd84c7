import { z } from 'zod';
import type { ChatAddress } from '../platform.ts';
import type { DiscordApi } from './api.ts';
import { type ChannelFacts, type Channels, chatOf, threadChat } from './channels.ts';
import { DiscordRefusal, discordCode, refusedWith } from './errors.ts';
import type { DiscordDeps } from './options.ts';
import { type Names, plainText, threadTitle } from './plain-text.ts';
import { isLater, snowflakeAt } from './snowflake.ts';
import { messageShape, type WireMessage } from './wire.ts';

/** Whether the bot writes in a thread, or was not let open it and writes in its channel instead. */
const stateShape = z.enum(['joined', 'refused']);
type ThreadState = z.infer<typeof stateShape>;

export interface Threads {
  load(): Promise<void>;
  /** Whether the bot takes part in the thread, and so is spoken to without a mention. */
  takesPart(threadId: string): boolean;
  join(threadId: string): Promise<void>;
  /**
   * The channel in which to write for a chat. The thread on the message that a conversation began with is opened here,
   * with the bot's first sign, and not when the message comes in: a stranger's mention must leave no trace.
   */
  open(chat: ChatAddress): Promise<string>;
  /** Whether what was meant for the thread is in its channel. */
  isRefused(threadId: string): boolean;
  /** The chat that a message of the bot's belongs to: in a channel it may stand for a thread that was refused. */
  chatIn(channel: ChannelFacts, message: TiedMessage | null | undefined): ChatAddress;
}

/** A message, and the one that it answers. */
export interface TiedMessage {
  message_reference?: { message_id?: string | undefined } | undefined;
}

export interface ThreadDeps extends DiscordDeps {
  api: DiscordApi;
  channels: Channels;
  names(guildId: string | undefined): Names;
}

const prefix = 'thread:';
const forgetAfterMs = 180 * 24 * 3_600_000;
const archiveAfterMinutes = 1440;

/** Threads that the bot opened or wrote in. They are remembered over restarts. */
export function createThreads({ api, channels, names, clock, log, memory }: ThreadDeps): Threads {
  const states = new Map<string, ThreadState>();
  const opening = new Map<string, Promise<string>>();

  async function remember(threadId: string, state: ThreadState): Promise<void> {
    if (states.get(threadId) === state) return;
    states.set(threadId, state);
    await memory.set(prefix + threadId, state);
  }

  async function open({ chatId, threadId }: ChatAddress): Promise<string> {
    if (threadId === undefined) return chatId;
    const state = states.get(threadId);
    if (state !== undefined) return state === 'joined' ? threadId : chatId;
    if (channels.known(threadId) !== undefined) return threadId;
    const running = opening.get(threadId);
    if (running !== undefined) return running;
    const attempt = openOnMessage(chatId, threadId).finally(() => opening.delete(threadId));
    opening.set(threadId, attempt);
    return attempt;
  }

  /** A thread has the id of its message, so whoever opens it, it is the one. */
  async function openOnMessage(channelId: string, messageId: string): Promise<string> {
    const message = await find(channelId, messageId);
    // No message of that id: a thread that stands by itself, or is gone; the send will tell.
    if (message === undefined || message.thread !== undefined) return messageId;
    const text = plainText(message, names(channels.known(channelId)?.guildId));
    const name = threadTitle(text, message.author.global_name ?? message.author.username);
    const body = { name, auto_archive_duration: archiveAfterMinutes };
    const path = `/channels/${channelId}/messages/${messageId}/threads` as const;
    try {
      await api.run({ method: 'post', path, what: 'open a thread', body });
    } catch (error) {
      if (!(error instanceof DiscordRefusal)) throw error;
      if (!refusedWith(error, discordCode.threadExists)) {
        log.warn(
          { err: error, channel: channelId },
          'no thread could be opened; the answer goes to the channel',
        );
        await remember(messageId, 'refused');
        return channelId;
      }
    }
    await remember(messageId, 'joined');
    return messageId;
  }

  async function find(channelId: string, messageId: string): Promise<WireMessage | undefined> {
    const path = `/channels/${channelId}/messages/${messageId}` as const;
    try {
      return await api.call({ method: 'get', path, what: 'read the message of a thread' }, messageShape);
    } catch (error) {
      if (error instanceof DiscordRefusal) return undefined;
      throw error;
    }
  }

  return {
    async load() {
      const oldest = snowflakeAt(clock.now() - forgetAfterMs);
      for (const { key, value } of await memory.list(prefix)) {
        const id = key.slice(prefix.length);
        const state = stateShape.safeParse(value);
        if (!state.success || isLater(oldest, id)) await memory.delete(key);
        else states.set(id, state.data);
      }
    },
    takesPart: (threadId) => states.get(threadId) === 'joined',
    isRefused: (threadId) => states.get(threadId) === 'refused',
    join: (threadId) => remember(threadId, 'joined'),
    chatIn(channel, message) {
      const began = message?.message_reference?.message_id;
      if (channel.kind !== 'channel' || began === undefined) return chatOf(channel);
      return states.get(began) === 'refused' ? threadChat(channel.id, began) : chatOf(channel);
    },
    open,
  };
}
