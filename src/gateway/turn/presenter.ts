import type { ChatAddress, Payload, Platform } from '../../../platforms/platform.ts';
import type { TurnEvents } from '../../agent/turn.ts';
import type { Clock } from '../../clock.ts';
import type { Log } from '../../log.ts';
import type { ToolCall } from '../../model/model-client.ts';
import type { OutboxRow } from '../../store/outbox.ts';
import type { Outbound } from '../outbound/outbound.ts';

/** An answer that comes faster than this needs no sign of work and no stream. */
const quietMs = 400;
const typingEveryMs = 4_000;

export interface PresenterOptions {
  platform: Platform;
  chat: ChatAddress;
  outbound: Outbound;
  clock: Clock;
  log: Log;
  streaming: { enabled: boolean; intervalMs: number; minChars: number; cursor: string };
  toolProgress: 'off' | 'new' | 'all' | 'verbose';
  /** Emoji and forty characters of a call, for the progress line. */
  describeCall(call: ToolCall, args: Record<string, unknown>): string;
  /** Stores the first piece of a streamed answer as an outbox row, so that a crash can finish it. */
  openStream(payload: Payload): Promise<OutboxRow>;
  /** The message id of an outbox row once it was sent. */
  messageIdOf(outboxId: number): Promise<string | null>;
}

/**
 * Shows a turn while it runs: typing, tool progress in one edited message, the answer as it streams. All of it is
 * best effort and may be dropped; only the answer itself is durable.
 */
export interface Presenter extends TurnEvents {
  lastActivity(): number;
  /** Resolves once a streamed message that was begun is stored, so that the answer can take its place. */
  streamStored(): Promise<void>;
  dispose(): void;
}

export function createPresenter(options: PresenterOptions): Presenter {
  const { platform, chat, outbound, clock, log } = options;
  const startedAt = clock.now();
  let lastActivity = startedAt;
  let disposed = false;

  const typing = createTyping(options);
  const stream = createStream(options, startedAt);
  const progress = createProgress(options);

  const alive = () => {
    lastActivity = clock.now();
  };
  const guard = (work: () => void) => {
    alive();
    if (disposed) return;
    try {
      work();
    } catch (error) {
      log.debug({ error }, 'a turn could not be shown');
    }
  };
  return {
    text: (delta) => guard(() => stream.add(delta)),
    restart: () => guard(stream.restart),
    boundary: () => guard(stream.end),
    toolStarted: (call, args) => guard(() => progress.add(options.describeCall(call, args))),
    toolFinished: alive,
    activity: alive,
    lastActivity: () => lastActivity,
    streamStored: stream.stored,
    dispose() {
      disposed = true;
      typing.stop();
      stream.end();
      outbound.drop(chat, 'progress');
      if (typing.shown)
        void platform.showActivity(chat, 'idle', AbortSignal.timeout(5_000)).catch(() => undefined);
    },
  };
}

/** Goes beside the outbound lanes, so that a sign of work never delays an answer; but not while the chat must rest. */
function createTyping({ platform, chat, clock, outbound }: PresenterOptions): {
  stop(): void;
  readonly shown: boolean;
} {
  let shown = false;
  let stopped = false;
  const show = () => {
    if (stopped) return;
    if (!outbound.mustWait(chat)) {
      shown = true;
      platform.showActivity(chat, 'working', AbortSignal.timeout(typingEveryMs)).catch(() => undefined);
    }
    cancel = clock.after(typingEveryMs, show);
  };
  let cancel = clock.after(quietMs, show);
  return {
    stop() {
      stopped = true;
      cancel();
    },
    get shown() {
      return shown;
    },
  };
}

interface StreamView {
  add(delta: string): void;
  restart(): void;
  end(): void;
  stored(): Promise<void>;
}

function createStream(options: PresenterOptions, startedAt: number): StreamView {
  const { platform, chat, outbound, clock, streaming } = options;
  const { stream, draftKinds } = platform.capabilities;
  const asDraft = stream === 'draft' && draftKinds.includes(chat.kind);
  const byEdit = stream !== 'none' && !asDraft && platform.capabilities.edits;
  if (!streaming.enabled || (!asDraft && !byEdit)) {
    return {
      add: () => undefined,
      restart: () => undefined,
      end: () => undefined,
      stored: async () => undefined,
    };
  }
  const draftId = 1 + Math.floor(Math.random() * 2 ** 30);
  let text = '';
  let shown = '';
  let row: Promise<OutboxRow> | null = null;
  let storing: Promise<unknown> = Promise.resolve();
  let cancel: (() => void) | null = null;
  let nextAt = startedAt + quietMs;

  const showDraft = (markdown: string) =>
    outbound.show(chat, 'stream', async (adapter, signal) => {
      await adapter.draft(chat, draftId, markdown, signal);
      return undefined;
    });

  const showEdit = (markdown: string) => {
    const payload = platform.render({ kind: 'text', markdown: markdown + streaming.cursor })[0];
    if (!payload) return;
    if (!row) {
      row = options.openStream(payload);
      storing = row.catch(() => undefined);
      return;
    }
    const opened = row;
    outbound.show(chat, 'stream', async (adapter, signal) => {
      const messageId = await options.messageIdOf((await opened).id);
      if (messageId !== null) await adapter.edit(chat, messageId, payload, signal);
      return undefined;
    });
  };

  function show(): void {
    cancel = null;
    if (text === shown || text.trim() === '') return;
    shown = text;
    nextAt = clock.now() + streaming.intervalMs;
    if (asDraft) showDraft(text);
    else showEdit(text);
  }

  return {
    add(delta) {
      text += delta;
      if (cancel || text.length < streaming.minChars) return;
      cancel = clock.after(Math.max(0, nextAt - clock.now()), show);
    },
    restart() {
      text = '';
      shown = '';
    },
    end() {
      cancel?.();
      cancel = null;
      outbound.drop(chat, 'stream');
      text = '';
      shown = '';
      row = null;
    },
    async stored() {
      await storing;
    },
  };
}

function createProgress(options: PresenterOptions): { add(line: string): void } {
  const { platform, chat, outbound, toolProgress } = options;
  const lines: { text: string; times: number }[] = [];
  let messageId: string | null = null;
  if (toolProgress === 'off' || !platform.capabilities.edits) return { add: () => undefined };

  const show = () => {
    const shownLines = lines.slice(-20).map(({ text, times }) => (times > 1 ? `${text} (×${times})` : text));
    const payload = platform.render({ kind: 'progress', lines: shownLines })[0];
    if (!payload) return;
    outbound.show(chat, 'progress', async (adapter, signal) => {
      if (messageId !== null) {
        await adapter.edit(chat, messageId, payload, signal);
        return undefined;
      }
      const key = `progress-${Math.random().toString(36).slice(2)}`;
      const sent = await adapter.deliver(chat, payload, { key, silent: true, signal });
      messageId = sent.messageId;
      return { messageId, payload };
    });
  };
  return {
    add(line) {
      const last = lines.at(-1);
      if (last && (last.text === line || (toolProgress === 'new' && toolOf(last.text) === toolOf(line))))
        last.times += 1;
      else lines.push({ text: line, times: 1 });
      show();
    },
  };
}

const toolOf = (line: string) => line.split(':', 1)[0];
