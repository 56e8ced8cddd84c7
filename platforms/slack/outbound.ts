import { z } from 'zod';
import { GatewayError } from '../../src/errors.ts';
import type { Log } from '../../src/log.ts';
import type { ChatAddress, DeliverOptions, Payload } from '../platform.ts';
import { anyAnswer, type SlackApi } from './api.ts';
import type { Commands } from './commands.ts';
import { slackCode } from './errors.ts';
import type { Files } from './files.ts';
import { type SlackPayload, slackPayload } from './payloads.ts';
import type { Previews } from './previews.ts';
import type { Responder } from './responder.ts';
import { textMessage } from './text-message.ts';
import type { Threads } from './threads.ts';
import { slackMessage } from './wire.ts';
import type { Workspaces } from './workspaces.ts';

/** The name under which a message carries its delivery key. */
const metadataType = 'hermes_delivery';
const privatePrefix = 'private:';

/** Refusals of a Markdown block, after which mrkdwn is tried: an answer is never lost to its markup. */
const badForm: ReadonlySet<string | undefined> = new Set([
  'invalid_blocks',
  'invalid_blocks_format',
  'invalid_arguments',
  'invalid_arg_name',
  'msg_blocks_too_long',
  'cannot_parse_attachment',
]);
/** Posted in the channel instead: the thread is gone, the answer is not. */
const goneThread: ReadonlySet<string | undefined> = new Set(['thread_not_found', 'invalid_thread_ts']);

const posted = z.object({ ts: z.string() });
const history = z.object({ messages: z.array(slackMessage) });

export interface OutboundDeps {
  workspaces: Workspaces;
  previews: Previews;
  files: Files;
  commands: Commands;
  responder: Responder;
  threads: Threads;
  log: Log;
  /** Show answers in threads in their channel too. */
  broadcast: boolean;
}

export interface Outbound {
  deliver(chat: ChatAddress, payload: Payload, options: DeliverOptions): Promise<{ messageId: string }>;
  find(chat: ChatAddress, payload: Payload, key: string, signal: AbortSignal): Promise<string | null>;
  edit(chat: ChatAddress, messageId: string, payload: Payload, signal: AbortSignal): Promise<void>;
  remove(chat: ChatAddress, messageId: string, signal: AbortSignal): Promise<void>;
}

export function createOutbound(deps: OutboundDeps): Outbound {
  const { workspaces, previews, files, commands, responder, threads, log, broadcast } = deps;
  const apiOf = (chat: ChatAddress): SlackApi => workspaces.of(chat.workspaceId).api;

  async function deliver(chat: ChatAddress, stored: Payload, options: DeliverOptions) {
    const { key, signal } = options;
    const payload = readPayload(stored);
    if (payload.kind === 'text' && (await whispered(payload.mrkdwn, options)))
      return { messageId: `${privatePrefix}${key}` };
    const metadata = { event_type: metadataType, event_payload: { key } };
    if (payload.kind === 'text') {
      const preview = await previews.take(chat);
      if (preview !== undefined && (await previews.finish(chat, preview, payload, { metadata }, signal))) {
        return { messageId: preview.ts };
      }
    } else {
      await previews.drop(chat);
    }
    const sent =
      payload.kind === 'file'
        ? await files.send(chat, payload, key, signal)
        : await post(chat, payload, metadata, signal);
    await joinThread(chat);
    return sent;
  }

  /** Says it to the one who gave the command. False when it is to be seen by all, or Slack takes no private answer. */
  async function whispered(mrkdwn: string, { replyTo, signal, private: isPrivate }: DeliverOptions) {
    const url = isPrivate === true ? await commands.responseUrlOf(replyTo) : undefined;
    if (url === undefined) return false;
    try {
      await responder.whisper(url, { mrkdwn }, signal);
      return true;
    } catch (error) {
      if (!(error instanceof GatewayError) || error.code !== 'platform_refused') throw error;
      log.info({ reason: error.message }, 'Slack: an answer to a command could not be private');
      return false;
    }
  }

  async function post(
    chat: ChatAddress,
    payload: Exclude<SlackPayload, { kind: 'file' }>,
    metadata: Record<string, unknown>,
    signal: AbortSignal,
  ) {
    const send = (content: Record<string, unknown>, threadTs: string | undefined) =>
      apiOf(chat).send(
        posted,
        'chat.postMessage',
        {
          channel: chat.chatId,
          ...(threadTs === undefined ? {} : { thread_ts: threadTs }),
          ...(threadTs !== undefined && broadcast && payload.kind === 'text'
            ? { reply_broadcast: true }
            : {}),
          ...content,
          metadata,
          // A preview of a link fetches it: a model must not be able to call out that way.
          unfurl_links: false,
          unfurl_media: false,
        },
        signal,
      );
    const { ts } = await inSomeForm(payload, async (content) => {
      try {
        return await send(content, chat.threadId);
      } catch (error) {
        if (chat.threadId === undefined || !goneThread.has(slackCode(error))) throw error;
        log.warn({ chat: chat.chatId }, 'Slack: the thread is gone, the message goes to the channel');
        return send(content, undefined);
      }
    });
    return { messageId: ts };
  }

  /** A message of the bot in a thread makes the thread one that it follows. */
  async function joinThread(chat: ChatAddress): Promise<void> {
    if (chat.threadId === undefined) return;
    const { teamId } = workspaces.of(chat.workspaceId);
    await threads.follow({ teamId, channel: chat.chatId, threadTs: chat.threadId });
  }

  async function find(
    chat: ChatAddress,
    stored: Payload,
    key: string,
    signal: AbortSignal,
  ): Promise<string | null> {
    if (readPayload(stored).kind === 'file') return files.findSent(chat, key, signal);
    const page = { channel: chat.chatId, limit: 100, include_all_metadata: true };
    const { messages } =
      chat.threadId === undefined
        ? await apiOf(chat).call(history, 'conversations.history', page, signal)
        : await apiOf(chat).call(
            history,
            'conversations.replies',
            { ...page, limit: 1000, ts: chat.threadId },
            signal,
          );
    const found = messages.find(
      ({ metadata }) => metadata?.event_type === metadataType && metadata.event_payload?.['key'] === key,
    );
    if (found === undefined) return null;
    await previews.forget(chat, found.ts);
    return found.ts;
  }

  async function edit(
    chat: ChatAddress,
    messageId: string,
    stored: Payload,
    signal: AbortSignal,
  ): Promise<void> {
    const payload = readPayload(stored);
    if (payload.kind === 'file')
      throw new GatewayError('platform_refused', 'A sent file cannot be edited on Slack');
    if (messageId.startsWith(privatePrefix)) {
      throw new GatewayError('platform_refused', 'A private answer to a Slack command cannot be edited');
    }
    await inSomeForm(payload, (content) =>
      apiOf(chat).call(anyAnswer, 'chat.update', { channel: chat.chatId, ts: messageId, ...content }, signal),
    );
  }

  async function remove(chat: ChatAddress, messageId: string, signal: AbortSignal): Promise<void> {
    if (await files.remove(chat, messageId, signal)) return;
    try {
      await apiOf(chat).call(anyAnswer, 'chat.delete', { channel: chat.chatId, ts: messageId }, signal);
    } catch (error) {
      if (slackCode(error) !== 'message_not_found') throw error;
    }
  }

  return { deliver, find, edit, remove };
}

/** Tries the Markdown block first and falls back to mrkdwn when Slack refuses it. */
async function inSomeForm<Result>(
  payload: Exclude<SlackPayload, { kind: 'file' }>,
  attempt: (content: Record<string, unknown>) => Promise<Result>,
): Promise<Result> {
  if (payload.kind === 'blocks') return attempt({ text: payload.text, blocks: payload.blocks });
  try {
    return await attempt(textMessage(payload, 'markdown'));
  } catch (error) {
    if (!badForm.has(slackCode(error))) throw error;
    return attempt(textMessage(payload, 'mrkdwn'));
  }
}

function readPayload(stored: Payload): SlackPayload {
  const parsed = slackPayload.safeParse(stored);
  if (parsed.success) return parsed.data;
  throw new GatewayError('platform_refused', 'A stored message is not one that the Slack adapter rendered');
}
