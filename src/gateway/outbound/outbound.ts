import type { ChatAddress, Payload, Platform } from '../../../platforms/platform.ts';
import type { Clock } from '../../clock.ts';
import { errorMessage, GatewayError } from '../../errors.ts';
import type { Log } from '../../log.ts';
import type { NewOutboxRow, OutboxRow } from '../../store/outbox.ts';
import type { Store } from '../../store/store.ts';
import { chatKeyOf } from '../session-key.ts';
import { attempt, outboxKey } from './attempt.ts';
import { type Doubt, doubtFromBefore } from './look-up.ts';
import { createPace, type Pace } from './pace.ts';

/** Rows older than this are given up: nobody wants yesterday's answer. */
const maxAgeMs = 24 * 3_600_000;
/** What may be dropped must not hold up what may not. */
const ephemeralTimeoutMs = 5_000;

/**
 * Work that may be dropped: a draft, a progress line, an edit of a message that streams. Resolves with the message
 * that it sent anew, if it did: what is looked for later must not be taken for it.
 */
export type Ephemeral = (platform: Platform, signal: AbortSignal) => Promise<SentBeside | undefined>;

export interface SentBeside {
  messageId: string;
  payload: Payload;
}

/**
 * Sends what the outbox holds: in order within a chat, chats side by side, at the platform's pace. Durable rows go
 * before ephemeral work, and only the newest work of a slot survives a wait.
 */
export interface Outbound {
  /** Rows that a transaction has just stored. */
  push(rows: readonly OutboxRow[]): void;
  show(chat: ChatAddress, slot: string, work: Ephemeral): void;
  drop(chat: ChatAddress, slot: string): void;
  /** Whether the platform has asked to send nothing to this chat for now; any call would make the wait longer. */
  mustWait(chat: ChatAddress): boolean;
  /** Takes up all that waits in the store. */
  start(): Promise<void>;
  /** Resolves when nothing is left to send, or after `graceMs`. */
  drain(graceMs: number): Promise<void>;
  stop(): void;
  readonly waiting: number;
}

export interface OutboundOptions {
  store: Store;
  clock: Clock;
  log: Log;
  platforms: ReadonlyMap<string, Platform>;
  /** A message that could not be delivered for good; `chatGone` when nothing else can be said there either. */
  onDead(row: OutboxRow, why: { error: string; chatGone: boolean }): void;
  onSent(row: OutboxRow): void;
}

interface Lane {
  chat: ChatAddress;
  rows: OutboxRow[];
  ephemeral: Map<string, Ephemeral>;
  busy: boolean;
  /** Ends a wait early, when something more important arrives. */
  wake: (() => void) | null;
}

export function createOutbound(options: OutboundOptions): Outbound {
  const { store, clock, log, platforms } = options;
  const lanes = new Map<string, Lane>();
  const paces = new Map<string, Pace>();
  const stopping = new AbortController();
  const idleWaiters: (() => void)[] = [];
  /** By row: what may have arrived although it is not marked. */
  const doubts = new Map<number, Doubt>();

  function laneOf(chat: ChatAddress): Lane {
    const key = chatKeyOf(chat);
    let lane = lanes.get(key);
    if (!lane) {
      lane = { chat, rows: [], ephemeral: new Map(), busy: false, wake: null };
      lanes.set(key, lane);
    }
    return lane;
  }

  function paceOf(platform: Platform): Pace {
    let pace = paces.get(platform.name);
    if (!pace) {
      pace = createPace(platform.capabilities.pace, clock);
      paces.set(platform.name, pace);
    }
    return pace;
  }

  function pump(lane: Lane): void {
    if (lane.busy || stopping.signal.aborted) return;
    lane.busy = true;
    void work(lane).then(() => {
      lane.busy = false;
      if (lane.rows.length > 0 || lane.ephemeral.size > 0)
        return stopping.signal.aborted ? undefined : pump(lane);
      lanes.delete(chatKeyOf(lane.chat));
      if (lanes.size === 0) for (const wake of idleWaiters.splice(0)) wake();
    });
  }

  async function work(lane: Lane): Promise<void> {
    const platform = platforms.get(lane.chat.platform);
    if (!platform) {
      lane.rows = [];
      lane.ephemeral.clear();
      return;
    }
    const pace = paceOf(platform);
    while (!stopping.signal.aborted && (lane.rows.length > 0 || lane.ephemeral.size > 0)) {
      const waitMs = pace.take(lane.chat);
      if (waitMs > 0) {
        // A wait in the pace drops what would be overtaken by then.
        if (lane.rows.length > 0) lane.ephemeral.clear();
        await pause(lane, waitMs);
        continue;
      }
      const row = lane.rows[0];
      if (row) await send(lane, row, platform, pace);
      else await showOne(lane, platform);
    }
  }

  async function send(lane: Lane, row: OutboxRow, platform: Platform, pace: Pace): Promise<void> {
    const context = { platform, read: store.read, clock, stop: stopping.signal };
    const outcome = await attempt(row, doubts.get(row.id) ?? null, context);
    doubts.delete(row.id);
    // What the stop cut short is left for the next start to settle.
    if (stopping.signal.aborted && outcome.kind !== 'sent') return;
    if (outcome.kind === 'retry' && clock.now() - row.createdAt > maxAgeMs)
      return giveUp(lane, row, { error: outcome.error, chatGone: false });
    if (outcome.kind === 'retry') {
      row.attempts += 1;
      if (outcome.doubt !== null) doubts.set(row.id, outcome.doubt);
      log.warn(
        { platform: row.platform, attempts: row.attempts, error: outcome.error },
        'a message could not be sent yet',
      );
      await mark(() => store.transaction((tables) => tables.outbox.markFailed(row.id, outcome.error)));
      lane.ephemeral.clear();
      if (outcome.blocksChat) pace.block(row.chat, outcome.afterMs);
      await pause(lane, outcome.afterMs, true);
      return;
    }
    if (outcome.kind === 'dead') return giveUp(lane, row, outcome);
    lane.rows.shift();
    // At once: a kill before this is on file may show the message twice.
    await mark(() => store.note((tables) => tables.outbox.markSent(row.id, outcome.messageId, clock.now())));
    options.onSent(row);
  }

  async function giveUp(
    lane: Lane,
    row: OutboxRow,
    { error, chatGone }: { error: string; chatGone: boolean },
  ): Promise<void> {
    lane.rows.shift();
    log.error({ platform: row.platform, purpose: row.purpose, error }, 'a message was given up');
    await mark(() => store.transaction((tables) => tables.outbox.markDead(row.id, error)));
    options.onDead(row, { error, chatGone });
  }

  /** A full disk must not make a sent message look unsent for longer than it lasts; a stop is no reason either. */
  async function mark(write: () => Promise<void>): Promise<void> {
    for (let tries = 0; ; tries += 1) {
      try {
        return await write();
      } catch (error) {
        log.error({ error: errorMessage(error), tries }, 'the state of a message could not be stored');
        if (stopping.signal.aborted) return;
        await new Promise<void>((resolve) => clock.after(1_000, resolve));
      }
    }
  }

  async function showOne(lane: Lane, platform: Platform): Promise<void> {
    const next = lane.ephemeral.entries().next().value;
    if (!next) return;
    const [slot, show] = next;
    lane.ephemeral.delete(slot);
    try {
      const signal = AbortSignal.any([stopping.signal, AbortSignal.timeout(ephemeralTimeoutMs)]);
      const sent = await show(platform, signal);
      if (sent) await keepBeside(lane.chat, sent.payload, sent.messageId);
    } catch (error) {
      if (error instanceof GatewayError && error.code === 'send_unknown')
        await keepBeside(lane.chat, {}, null);
      log.debug({ error: errorMessage(error), slot }, 'a progress message could not be shown');
      const limited =
        error instanceof Error && 'retryAfterMs' in error && typeof error.retryAfterMs === 'number';
      if (limited) paceOf(platform).block(lane.chat, Number(error.retryAfterMs));
    }
  }

  /** Without an id it is a message that may be there: nothing can be told from the ids around it. */
  async function keepBeside(chat: ChatAddress, payload: Payload, messageId: string | null): Promise<void> {
    const row: NewOutboxRow = {
      platform: chat.platform,
      chat,
      chatKey: chatKeyOf(chat),
      sessionKey: '',
      op: { kind: 'send', payload },
      purpose: 'progress',
      key: outboxKey(),
      createdAt: clock.now(),
    };
    await mark(() => store.note((tables) => tables.outbox.addBeside(row, messageId)));
  }

  /** Waits; a durable row that arrives meanwhile ends the wait of ephemeral work, but never that of a failed row. */
  function pause(lane: Lane, waitMs: number, firm = false): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        cancel();
        lane.wake = null;
        stopping.signal.removeEventListener('abort', done);
        resolve();
      };
      const cancel = clock.after(waitMs, done);
      if (!firm) lane.wake = done;
      stopping.signal.addEventListener('abort', done, { once: true });
    });
  }

  return {
    push(rows) {
      for (const row of rows) {
        const lane = laneOf(row.chat);
        lane.rows.push(row);
        lane.wake?.();
        pump(lane);
      }
    },
    show(chat, slot, ephemeral) {
      const lane = laneOf(chat);
      lane.ephemeral.set(slot, ephemeral);
      pump(lane);
    },
    drop(chat, slot) {
      lanes.get(chatKeyOf(chat))?.ephemeral.delete(slot);
    },
    mustWait: (chat) => paces.get(chat.platform)?.isBlocked(chat) ?? false,
    async start() {
      const now = clock.now();
      const rows = await store.read.outbox.waiting();
      const [stale, fresh] = [
        rows.filter((row) => now - row.createdAt > maxAgeMs),
        rows.filter((row) => now - row.createdAt <= maxAgeMs),
      ];
      await store.transaction(async (tables) => {
        for (const row of stale) await tables.outbox.markDead(row.id, 'too old to send');
      });
      const chats = new Set<string>();
      for (const row of fresh) {
        if (!chats.has(row.chatKey)) doubts.set(row.id, await doubtFromBefore(row, store.read));
        chats.add(row.chatKey);
      }
      this.push(fresh);
    },
    async drain(graceMs) {
      if (lanes.size === 0) return;
      await new Promise<void>((resolve) => {
        const cancel = clock.after(graceMs, resolve);
        idleWaiters.push(() => {
          cancel();
          resolve();
        });
      });
    },
    stop() {
      stopping.abort();
    },
    get waiting() {
      let count = 0;
      for (const lane of lanes.values()) count += lane.rows.length;
      return count;
    },
  };
}
