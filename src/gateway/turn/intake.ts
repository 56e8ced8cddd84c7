import { randomBytes } from 'node:crypto';
import type { Clock } from '../../clock.ts';
import type { ContentPart } from '../../model/model-client.ts';
import type { InboxRow } from '../../store/inbox.ts';
import type { SessionRow } from '../../store/sessions.ts';
import type { Store, Tables, Transaction } from '../../store/store.ts';
import { type ResetPolicy, type ResetReason, resetReason } from '../reset-policy.ts';
import { noBlame } from './blame.ts';
import { proveLease } from './lease.ts';

export interface IntakeOptions {
  store: Store;
  clock: Clock;
  /** Fetches and describes what came with the messages; failures become text. */
  readMedia(rows: readonly InboxRow[]): Promise<{ text: string; parts: readonly ContentPart[] }>;
  resetPolicy(session: SessionRow): ResetPolicy;
  /** Whether a background process keeps the session from an automatic reset. */
  isKeptAlive(session: SessionRow): boolean;
  namesSenders(session: SessionRow): boolean;
  /** Tells the chat, within the transaction, that its message was set aside. */
  onSetAside(tables: Transaction, session: SessionRow): Promise<void>;
  /** Tells the chat, within the transaction, that a new conversation begins. */
  onReset(tables: Transaction, session: SessionRow, reason: ResetReason): Promise<void>;
}

/** Takes the next message of a session into its transcript. */
export interface Intake {
  /**
   * Appends the next message (or joined group) as a user entry and opens a turn. `later` tells when more of a group
   * may still arrive; `none` that nothing waits.
   */
  takeNext(
    session: SessionRow,
    fence: number,
  ): Promise<{ kind: 'taken' } | { kind: 'none' } | { kind: 'later'; afterMs: number }>;
  /** Gives up the next message, whose taking in killed the process again and again, and tells its chat. */
  setAside(session: SessionRow, fence: number): Promise<void>;
}

export function createIntake(options: IntakeOptions): Intake {
  const { store, clock } = options;

  async function resetIfDue(tables: Transaction, session: SessionRow): Promise<SessionRow> {
    const reason = options.isKeptAlive(session)
      ? null
      : resetReason(options.resetPolicy(session), session.updatedAt, clock.now());
    if (!reason) return session;
    await resetSession(tables, session.key, reason, clock.now());
    await options.onReset(tables, session, reason);
    return (await tables.sessions.get(session.key)) ?? session;
  }

  /** The next message or joined group, with what was said around it before; null when nothing waits. */
  async function nextGroup(sessionKey: string): Promise<readonly InboxRow[] | null> {
    const waiting = await store.read.inbox.waiting(sessionKey);
    const first = waiting.find((row) => row.role !== 'context');
    if (!first) return null;
    return waiting.filter((row) =>
      row.role === 'context' ? row.id < first.id : row.groupKey === first.groupKey,
    );
  }

  return {
    async setAside(session, fence) {
      const group = (await nextGroup(session.key)) ?? [];
      await store.transaction(async (tables) => {
        await proveLease(tables, session.key, fence);
        await tables.sessions.update(session.key, { blame: noBlame });
        if (group.length === 0) return;
        await tables.inbox.setState(
          group.map((row) => row.id),
          'dead',
        );
        await options.onSetAside(tables, session);
      });
    },
    async takeNext(session, fence) {
      const group = await nextGroup(session.key);
      const first = group?.find((row) => row.role !== 'context');
      if (!group || !first) return { kind: 'none' };
      const afterMs = Math.max(...group.map((row) => row.readyAt)) - clock.now();
      if (afterMs > 0) return { kind: 'later', afterMs };
      const media = await options.readMedia(group);
      await store.transaction(async (tables) => {
        await proveLease(tables, session.key, fence);
        const current = await resetIfDue(tables, session);
        const text = [joinTexts(group, options.namesSenders(session)), media.text]
          .filter((part) => part !== '')
          .join('\n\n');
        const body = {
          kind: 'user' as const,
          text,
          messageId: first.event.messageId,
          ...(media.parts.length > 0 && { parts: media.parts }),
        };
        await tables.entries.append(current.sessionId, body, clock.now());
        await tables.inbox.setState(
          group.map((row) => row.id),
          'taken',
        );
        await tables.sessions.update(session.key, {
          turn: 'running',
          blame: { ...current.blame, waiting: 0 },
          chat: first.event.chat,
          userId: first.event.sender.id,
          userName: first.event.sender.name,
          updatedAt: clock.now(),
          ...(first.event.sender.locale && { locale: first.event.sender.locale }),
        });
      });
      return { kind: 'taken' };
    },
  };
}

function joinTexts(group: readonly InboxRow[], named: boolean): string {
  const texts = new Set<string>();
  for (const row of group) {
    const { text, sender, replyTo } = row.event;
    const quoted =
      replyTo?.text && !replyTo.toBot ? `[In reply to: ${replyTo.text.slice(0, 500)}]\n${text}` : text;
    if (quoted === '') continue;
    texts.add(named || row.role === 'context' ? saidBy(sender.name, quoted) : quoted);
  }
  return [...texts].join('\n');
}

/** Names and texts are other people's: only what begins a line here is a speaker. */
function saidBy(name: string, text: string): string {
  return `${name.replace(/\s+/g, ' ')}: ${text.replace(/\r\n?|[\n\u2028\u2029]/g, '\n  ')}`;
}

/** Begins a new transcript under the same key. What was allowed for the session ends with it. */
export async function resetSession(tables: Tables, key: string, reason: string, now: number): Promise<void> {
  await tables.sessions.rotate(key, newSessionId(now), reason, now);
  await tables.grants.clear(key);
}

export function newSessionId(now: number): string {
  return `${new Date(now).toISOString().slice(0, 19).replace(/[-:T]/g, '')}_${randomBytes(4).toString('hex')}`;
}
