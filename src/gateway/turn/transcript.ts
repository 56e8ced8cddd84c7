import { randomBytes } from 'node:crypto';
import type { Transcript } from '../../agent/turn.ts';
import type { Clock } from '../../clock.ts';
import type { Entry, EntryBody } from '../../store/entries.ts';
import type { NewOutboxRow, OutboxRow } from '../../store/outbox.ts';
import type { SessionRow } from '../../store/sessions.ts';
import type { Store, Tables, Transaction } from '../../store/store.ts';
import { noBlame } from './blame.ts';
import { proveLease } from './lease.ts';

type AssistantBody = Extract<EntryBody, { kind: 'assistant' }>;

export interface TranscriptOptions {
  store: Store;
  clock: Clock;
  session: SessionRow;
  /** The lease under which this process may write. */
  fence: number;
  entries: readonly Entry[];
  /** The messages that deliver an answer; computed before the transaction, stored within it. */
  deliver(text: string, purpose: 'final' | 'interim'): Promise<readonly NewOutboxRow[]>;
  /** Rows that were stored: the outbound scheduler's food. */
  onOutbox(rows: readonly OutboxRow[]): void;
}

/**
 * The stored transcript under a lease. Each write is one transaction that first proves that the lease still holds:
 * a process that lost its session can write nothing more.
 */
export function createTranscript(
  options: TranscriptOptions,
): Transcript & { close(body: EntryBody): Promise<void> } {
  const { store, clock, session, fence } = options;
  const entries = [...options.entries];

  async function write(work: (tables: Transaction, at: number) => Promise<void>): Promise<void> {
    const at = clock.now();
    await store.transaction(async (tables) => {
      await proveLease(tables, session.key, fence);
      await work(tables, at);
    });
  }

  async function append(tables: Tables, body: EntryBody, at: number, added: Entry[]): Promise<void> {
    const id = await tables.entries.append(session.sessionId, body, at);
    added.push({ ...body, id, sessionId: session.sessionId, at });
  }

  /** Entries become visible in memory only once they are on disk. */
  async function appendAll(
    bodies: readonly EntryBody[],
    also: (tables: Transaction, at: number) => Promise<void> = async () => undefined,
  ): Promise<void> {
    const added: Entry[] = [];
    await write(async (tables, at) => {
      for (const body of bodies) await append(tables, body, at, added);
      await also(tables, at);
    });
    entries.push(...added);
  }

  /** Deaths while it waited for the model count only as long as nothing comes of the turn. */
  async function noteProgress(tables: Tables): Promise<void> {
    if (session.blame.waiting > 0)
      await tables.sessions.update(session.key, { blame: { ...session.blame, waiting: 0 } });
  }

  async function storeOutbox(tables: Transaction, rows: readonly NewOutboxRow[]): Promise<void> {
    const stored: OutboxRow[] = [];
    for (const row of rows) stored.push(await tables.outbox.add(row));
    tables.onCommit(() => options.onOutbox(stored));
  }

  return {
    entries: () => entries,
    append: (body) => appendAll([body]),
    startCalls: (callIds) => write((tables, at) => tables.toolRuns.start(session.sessionId, callIds, at)),
    unfinished: (callIds) => store.read.toolRuns.unfinished(session.sessionId, callIds),
    async appendCalls(body, usage) {
      const rows = body.text.trim() === '' ? [] : await options.deliver(body.text, 'interim');
      const hidden = await store.read.entries.hiddenCallIds(session.sessionId);
      await appendAll([withFreshIds(body, hidden)], async (tables) => {
        await storeOutbox(tables, rows);
        if (rows.length > 0) await tables.outbox.closeStreams(session.key);
        await noteProgress(tables);
        await tables.sessions.addUsage(session.key, usage);
      });
    },
    async appendResults(results) {
      const added: Entry[] = [];
      await write(async (tables, at) => {
        const remarks = await takeRemarks(tables, session.key);
        for (const [index, { callId, tool, content }] of results.entries()) {
          const isLast = index === results.length - 1;
          const text = isLast ? content + remarks : content;
          await append(tables, { kind: 'tool', callId, tool, content: text }, at, added);
        }
        await tables.toolRuns.finish(
          session.sessionId,
          results.map((result) => result.callId),
          at,
        );
        await noteProgress(tables);
      });
      entries.push(...added);
    },
    async finish(body, usage) {
      const rows = await options.deliver(body.text, 'final');
      await appendAll([body], async (tables, at) => {
        await storeOutbox(tables, rows);
        await tables.outbox.closeStreams(session.key);
        await tables.inbox.settle(session.key, 'done');
        await tables.sessions.addUsage(session.key, usage);
        await tables.sessions.update(session.key, { turn: 'idle', blame: noBlame, updatedAt: at });
      });
    },
    /** Ends the turn without an answer: it was stopped, or the next message takes its place. */
    async close(body) {
      await appendAll([body], async (tables, at) => {
        await tables.outbox.closeStreams(session.key);
        await tables.inbox.settle(session.key, 'done');
        await tables.sessions.update(session.key, { turn: 'idle', blame: noBlame, updatedAt: at });
      });
    },
  };
}

/**
 * Some providers number their calls anew in each conversation that they see. What /undo and /retry hid was run and
 * approved under its ids all the same, and a new call must not find those.
 */
function withFreshIds(body: AssistantBody, taken: ReadonlySet<string>): AssistantBody {
  const toolCalls = body.toolCalls.map((call) =>
    taken.has(call.id) ? { ...call, id: `call_${randomBytes(6).toString('hex')}` } : call,
  );
  return { ...body, toolCalls };
}

/** What the user said while tools ran (`steer`): it goes to the model with the last result. */
async function takeRemarks(tables: Tables, sessionKey: string): Promise<string> {
  const waiting = await tables.inbox.waiting(sessionKey);
  const remarks = waiting.filter((row) => row.role === 'steer');
  if (remarks.length === 0) return '';
  await tables.inbox.setState(
    remarks.map((row) => row.id),
    'done',
  );
  return remarks.map((row) => `\n\n[The user says meanwhile: ${row.event.text}]`).join('');
}
