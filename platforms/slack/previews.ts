import { z } from 'zod';
import type { Clock } from '../../src/clock.ts';
import { errorMessage, GatewayError } from '../../src/errors.ts';
import type { Log } from '../../src/log.ts';
import type { ChatAddress, PlatformMemory } from '../platform.ts';
import { chatKey, chatOfKey } from './address.ts';
import { anyAnswer, type CallArgs, type SlackApi } from './api.ts';
import type { InTurn } from './in-turn.ts';
import { endStream, openStream } from './native-stream.ts';
import type { TextPayload } from './payloads.ts';
import { textMessage } from './text-message.ts';

/**
 * A message that shows an answer while it is being written: a native stream where Slack has one, else a message that
 * is edited. The finished answer takes it over, so nothing is shown twice.
 */
const preview = z.object({
  ts: z.string(),
  /** `unsure`: a stream of which it is not known how much Slack has taken; it can only be ended and edited. */
  mode: z.enum(['stream', 'unsure', 'edit']),
  /** What it shows so far. */
  markdown: z.string(),
  draftId: z.number().optional(),
});
export type Preview = z.infer<typeof preview>;

export interface PreviewDeps {
  memory: PlatformMemory;
  clock: Clock;
  log: Log;
  inTurn: InTurn;
  apiOf(chat: ChatAddress): SlackApi;
  /** Whom a stream in a channel is for: Slack asks for that. */
  recipientOf(chat: ChatAddress): string | undefined;
}

export interface Previews {
  /** Shows that an answer is on its way, unless something shows so already. */
  announce(chat: ChatAddress, signal: AbortSignal): Promise<void>;
  /** Shows the unfinished answer `draftId`; another id in the same chat begins anew. */
  show(chat: ChatAddress, draftId: number, text: TextPayload, signal: AbortSignal): Promise<void>;
  /** Hands the chat's preview over to whoever finishes it. */
  take(chat: ChatAddress): Promise<Preview | undefined>;
  /** Forgets the chat's preview if it is this message, which turned out to be finished. */
  forget(chat: ChatAddress, ts: string): Promise<void>;
  /** Turns a preview into the finished message; false when it could not be, and is gone. */
  finish(
    chat: ChatAddress,
    taken: Preview,
    text: TextPayload,
    extra: Record<string, unknown>,
    signal: AbortSignal,
  ): Promise<boolean>;
  /** Removes the chat's preview, if any: what comes next is not its answer. */
  drop(chat: ChatAddress): Promise<void>;
  /** Removes it soon, unless an answer takes it over by then. */
  dropLater(chat: ChatAddress): void;
  /** Does so for the previews that an earlier run left behind. */
  dropLeftovers(): Promise<void>;
  cancelTimers(): void;
}

const prefix = 'preview:';
/** How long after the end of a turn its answer may take to arrive here. */
const graceMs = 5000;
/** How long after a restart a resumed turn may take to finish what it had begun to show. */
const leftoverGraceMs = 60_000;
const placeholder: TextPayload = { kind: 'text', markdown: '⏳', mrkdwn: '⏳' };
const posted = z.object({ ts: z.string() });

export function createPreviews({ memory, clock, log, inTurn, apiOf, recipientOf }: PreviewDeps): Previews {
  const timers = new Map<string, () => void>();

  const keyOf = (chat: ChatAddress) => `${prefix}${chatKey(chat)}`;
  const load = async (chat: ChatAddress) => preview.safeParse(await memory.get(keyOf(chat))).data;

  async function start(
    chat: ChatAddress,
    draftId: number,
    text: TextPayload,
    signal: AbortSignal,
  ): Promise<void> {
    const streamTs = chat.threadId === undefined ? undefined : await startStream(chat, text, signal);
    const ts = streamTs ?? (await post(chat, text, signal));
    const mode = streamTs === undefined ? 'edit' : 'stream';
    await memory.set(keyOf(chat), { ts, mode, markdown: text.markdown, draftId });
  }

  /** The stream's `ts`; undefined where there can be none. */
  async function startStream(chat: ChatAddress, text: TextPayload, signal: AbortSignal) {
    if (chat.threadId === undefined) return undefined;
    const place = { channel: chat.chatId, thread_ts: chat.threadId };
    if (chat.kind === 'dm') return openStream(apiOf(chat), place, text.markdown, signal);
    const recipient = recipientOf(chat);
    if (recipient === undefined) return undefined;
    const audience = { recipient_user_id: recipient, recipient_team_id: chat.workspaceId };
    return openStream(apiOf(chat), { ...place, ...audience }, text.markdown, signal);
  }

  async function post(chat: ChatAddress, text: TextPayload, signal: AbortSignal): Promise<string> {
    const args = {
      channel: chat.chatId,
      ...(chat.threadId === undefined ? {} : { thread_ts: chat.threadId }),
      ...textMessage(text, 'markdown'),
    };
    return (await apiOf(chat).send(posted, 'chat.postMessage', args, signal)).ts;
  }

  async function grow(chat: ChatAddress, shown: Preview, text: TextPayload, signal: AbortSignal) {
    const addition = additionTo(shown, text);
    if (addition === undefined) {
      await replace(chat, shown, text, {}, signal);
      return memory.set(keyOf(chat), { ...shown, mode: 'edit', markdown: text.markdown });
    }
    try {
      const args = { channel: chat.chatId, ts: shown.ts, markdown_text: addition };
      await apiOf(chat).send(anyAnswer, 'chat.appendStream', args, signal);
    } catch (error) {
      if (!isRateLimit(error)) await memory.set(keyOf(chat), { ...shown, mode: 'unsure' });
      throw error;
    }
    return memory.set(keyOf(chat), { ...shown, markdown: text.markdown });
  }

  /** Makes the preview's message show `text` and nothing else. */
  async function replace(
    chat: ChatAddress,
    shown: Preview,
    text: TextPayload,
    extra: CallArgs,
    signal: AbortSignal,
  ) {
    await end(chat, shown, signal);
    const args = { channel: chat.chatId, ts: shown.ts, ...textMessage(text, 'markdown'), ...extra };
    await apiOf(chat).call(anyAnswer, 'chat.update', args, signal);
  }

  async function end(chat: ChatAddress, shown: Preview, signal?: AbortSignal): Promise<void> {
    if (shown.mode !== 'edit') await endStream(apiOf(chat), { channel: chat.chatId, ts: shown.ts }, signal);
  }

  function dropAfter(chat: ChatAddress, delayMs: number): void {
    const key = keyOf(chat);
    timers.get(key)?.();
    const cancel = clock.after(delayMs, () => {
      timers.delete(key);
      void inTurn(key, () => remove(chat));
    });
    timers.set(key, cancel);
  }

  async function take(chat: ChatAddress): Promise<Preview | undefined> {
    timers.get(keyOf(chat))?.();
    timers.delete(keyOf(chat));
    const shown = await load(chat);
    if (shown !== undefined) await memory.delete(keyOf(chat));
    return shown;
  }

  async function remove(chat: ChatAddress): Promise<void> {
    const shown = await take(chat);
    if (shown === undefined) return;
    try {
      await end(chat, shown);
      await apiOf(chat).call(anyAnswer, 'chat.delete', { channel: chat.chatId, ts: shown.ts });
    } catch (error) {
      log.debug({ reason: errorMessage(error) }, 'Slack: an unfinished answer could not be removed');
    }
  }

  return {
    show: (chat, draftId, text, signal) =>
      inTurn(keyOf(chat), async () => {
        timers.get(keyOf(chat))?.();
        let shown = await load(chat);
        // A placeholder has no id and becomes the first draft.
        if (shown?.draftId !== undefined && shown.draftId !== draftId) {
          await remove(chat);
          shown = undefined;
        }
        if (shown === undefined) return start(chat, draftId, text, signal);
        if (shown.markdown !== text.markdown) await grow(chat, { ...shown, draftId }, text, signal);
      }),
    announce: (chat, signal) =>
      inTurn(keyOf(chat), async () => {
        timers.get(keyOf(chat))?.();
        if ((await load(chat)) !== undefined) return;
        const ts = await post(chat, placeholder, signal);
        await memory.set(keyOf(chat), { ts, mode: 'edit', markdown: placeholder.markdown });
      }),
    take: (chat) => inTurn(keyOf(chat), () => take(chat)),
    async forget(chat, ts) {
      if ((await load(chat))?.ts === ts) await memory.delete(keyOf(chat));
    },
    async finish(chat, taken, text, extra, signal) {
      try {
        const addition = additionTo(taken, text);
        if (addition === undefined) {
          await replace(chat, taken, text, extra, signal);
        } else {
          const rest = addition === '' ? {} : { markdown_text: addition };
          const args = { channel: chat.chatId, ts: taken.ts, ...rest, ...extra };
          await apiOf(chat).call(anyAnswer, 'chat.stopStream', args, signal);
        }
        return true;
      } catch (error) {
        await memory.set(keyOf(chat), taken);
        if (!(error instanceof GatewayError) || error.code !== 'platform_refused') throw error;
        log.debug({ reason: error.message }, 'Slack: an answer could not take its preview over');
        await remove(chat);
        return false;
      }
    },
    drop: (chat) => inTurn(keyOf(chat), () => remove(chat)),
    dropLater: (chat) => dropAfter(chat, graceMs),
    async dropLeftovers() {
      for (const { key, value } of await memory.list(prefix)) {
        const left = preview.safeParse(value).data;
        if (left?.mode === 'stream') await memory.set(key, { ...left, mode: 'unsure' });
        dropAfter(chatOfKey(key.slice(prefix.length)), leftoverGraceMs);
      }
    },
    cancelTimers() {
      for (const cancel of timers.values()) cancel();
      timers.clear();
    },
  };
}

/** What must be appended for `text` to be shown; undefined when appending cannot do it. */
function additionTo({ mode, markdown }: Preview, text: TextPayload): string | undefined {
  if (mode !== 'stream' || !text.markdown.startsWith(markdown)) return undefined;
  return text.markdown.slice(markdown.length);
}

function isRateLimit(error: unknown): boolean {
  return error instanceof GatewayError && error.code === 'platform_rate_limited';
}
