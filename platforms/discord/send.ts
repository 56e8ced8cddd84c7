import { readFile, stat } from 'node:fs/promises';
import type { RawFile } from 'discord.js';
import { z } from 'zod';
import { errorMessage, GatewayError } from '../../src/errors.ts';
import type { ChatAddress, DeliverOptions, Payload } from '../platform.ts';
import { type DiscordApi, withId } from './api.ts';
import { nonceOf, sameMessage } from './delivered.ts';
import { discordCode, refusedWith } from './errors.ts';
import { withoutFrame } from './frameless.ts';
import type { Holding } from './holding.ts';
import { type DiscordPayload, messageFields, readPayload } from './payload.ts';
import { titleOf } from './plain-text.ts';
import { type PrivateAnswers, privatePrefix } from './private-answers.ts';
import { isSnowflake } from './snowflake.ts';
import type { Threads } from './threads.ts';
import { messageFlag, messageShape } from './wire.ts';

export interface SendDeps {
  api: DiscordApi;
  holding: Holding;
  threads: Threads;
  privateAnswers: PrivateAnswers;
  botId(): string;
  /** Largest file that Discord takes from a bot. */
  fileBytesOut: number;
}

const searched = 50;

/** The outbound half of the port: one payload, one call. */
export function createSender({ api, holding, threads, privateAnswers, botId, fileBytesOut }: SendDeps) {
  async function deliver(
    chat: ChatAddress,
    payload: Payload,
    options: DeliverOptions,
  ): Promise<{ messageId: string }> {
    const content = readPayload(payload);
    const { replyTo, signal } = options;
    const hidden =
      options.private === true && content.file === undefined
        ? await privateAnswers.send(replyTo, content, signal)
        : undefined;
    const messageId = hidden ?? (await framedOrPlain(content, (form) => post(chat, form, options)));
    return { messageId };
  }

  async function post(chat: ChatAddress, content: DiscordPayload, options: DeliverOptions): Promise<string> {
    const { replyTo, silent, signal, key } = options;
    const files = await filesOf(content, fileBytesOut);
    const plain = messageFields(content);
    const fields = { ...plain, flags: plain.flags | (silent === true ? messageFlag.silent : 0) };
    const channelId = await threads.open(chat);
    const answered = answeredMessage(chat, channelId, replyTo);
    const body = {
      ...fields,
      nonce: nonceOf(key),
      enforce_nonce: true,
      ...(answered === undefined
        ? {}
        : { message_reference: { message_id: answered, fail_if_not_exists: false } }),
    };
    const base = `/channels/${channelId}` as const;
    const call = { method: 'post', what: 'send a message', effect: 'send', files, signal } as const;
    try {
      const sent = await api.call({ ...call, path: `${base}/messages`, body }, withId);
      if (channelId === chat.threadId) await threads.join(channelId);
      return sent.id;
    } catch (error) {
      // A forum takes no messages, only posts.
      if (!refusedWith(error, discordCode.nonTextChannel)) throw error;
      const opening = { name: postTitle(content), message: fields };
      const opened = await api.call({ ...call, path: `${base}/threads`, body: opening }, withId);
      await threads.join(opened.id);
      return opened.id;
    }
  }

  /** Where the bot may not embed, a card goes as plain text. */
  async function framedOrPlain<Result>(
    content: DiscordPayload,
    attempt: (content: DiscordPayload) => Promise<Result>,
  ): Promise<Result> {
    try {
      return await attempt(content);
    } catch (error) {
      const framed = content.embeds !== undefined && refusedWith(error, discordCode.missingPermissions);
      const plain = framed ? withoutFrame(content) : null;
      if (plain === null) throw error;
      return attempt(plain);
    }
  }

  async function edit(
    chat: ChatAddress,
    messageId: string,
    payload: Payload,
    signal: AbortSignal,
  ): Promise<void> {
    const path = await messagePath(chat, messageId);
    await framedOrPlain(readPayload(payload), (content) =>
      api.run({ method: 'patch', path, what: 'edit a message', body: messageFields(content), signal }),
    );
  }

  async function remove(chat: ChatAddress, messageId: string, signal: AbortSignal): Promise<void> {
    const path = await messagePath(chat, messageId);
    try {
      await api.run({ method: 'delete', path, what: 'delete a message', signal });
    } catch (error) {
      if (!refusedWith(error, discordCode.unknownMessage)) throw error;
    }
  }

  async function messagePath(chat: ChatAddress, messageId: string): Promise<`/${string}`> {
    if (messageId.startsWith(privatePrefix))
      throw new GatewayError('platform_refused', 'A private answer to a Discord command cannot be changed.');
    return `/channels/${await holding(chat, messageId)}/messages/${messageId}`;
  }

  /**
   * Discord keeps no key with a message, so a delivery of long ago is known by its looks: among what the bot has
   * written since a person last wrote. Two alike in one turn are as good as one.
   */
  async function findDelivered(
    chat: ChatAddress,
    payload: Payload,
    signal: AbortSignal,
  ): Promise<string | null> {
    const query = new URLSearchParams({ limit: String(searched) });
    const path = `/channels/${await threads.open(chat)}/messages` as const;
    const what = 'look a sent message up';
    const newestFirst = await api.call({ method: 'get', path, query, what, signal }, z.array(messageShape));
    const wanted = readPayload(payload);
    for (const message of newestFirst) {
      if (message.author.id !== botId()) return null;
      if (sameMessage(message, wanted)) return message.id;
    }
    return null;
  }

  return { deliver, edit, remove, findDelivered };
}

/**
 * The message to tie an answer to. What a thread hangs on is not in the thread; where no thread could be opened, all of
 * the conversation is tied to the message that it began with, so that replies find their way back (see inbound.ts).
 */
function answeredMessage({ threadId }: ChatAddress, channelId: string, replyTo: string | undefined) {
  if (threadId !== undefined && channelId !== threadId) return threadId;
  return replyTo === undefined || replyTo === threadId || !isSnowflake(replyTo) ? undefined : replyTo;
}

/** A title is shown as it is: no markup, and no signs that kept text from being taken for it. */
function postTitle({ content, embeds, file }: DiscordPayload): string {
  const title = embeds?.[0]?.['title'];
  const text = content || (typeof title === 'string' ? title : '') || file?.name || '';
  return titleOf(text.replace(/\\(?=[\\`*_~|<[\]#>.)-])/g, '')) || '…';
}

async function filesOf({ file }: DiscordPayload, limitBytes: number): Promise<RawFile[]> {
  if (file === undefined) return [];
  try {
    const { size } = await stat(file.path);
    if (size > limitBytes) {
      const mib = (bytes: number) => `${(bytes / 1_048_576).toFixed(1)} MiB`;
      throw new GatewayError(
        'platform_refused',
        `${file.name} has ${mib(size)}; Discord takes ${mib(limitBytes)} from a bot.`,
        { mend: 'Send a smaller file or a link to it.' },
      );
    }
    return [{ name: file.name, data: await readFile(file.path) }];
  } catch (error) {
    if (error instanceof GatewayError) throw error;
    throw new GatewayError('platform_refused', `${file.name} cannot be read: ${errorMessage(error)}`);
  }
}
