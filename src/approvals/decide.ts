import type { Clock } from '../clock.ts';
import type { ApprovalDecision, ApprovalRow, Choice } from '../store/approvals.ts';
import type { Store, Transaction } from '../store/store.ts';

export interface Decider {
  id: string;
  name: string;
  isAdmin: boolean;
}

export type DecideOutcome =
  | { kind: 'decided'; row: ApprovalRow }
  | { kind: 'not_yours'; row: ApprovalRow }
  | { kind: 'already'; row: ApprovalRow }
  | { kind: 'unknown' }
  /** A choice that this card did not offer. */
  | { kind: 'not_offered'; row: ApprovalRow };

export interface DecisionsOptions {
  store: Store;
  clock: Clock;
  /** Turns the card into its outcome, in the transaction that stores the outcome. */
  presentOutcome(row: ApprovalRow, tables: Transaction): Promise<void>;
  /** Writes an `always` to the configuration. Called before the decision is stored: an Always that is not kept is none. */
  keepAlways(row: ApprovalRow): Promise<void>;
  /** The session can go on. */
  onSettled(row: ApprovalRow): void;
}

/**
 * The one resolver for all surfaces: buttons, text commands, expiry, shutdown. First decision wins; what comes late
 * or twice changes nothing.
 */
export interface Decisions {
  decide(
    id: string,
    choice: Choice,
    by: Decider,
    reason?: string,
    also?: (tables: Transaction) => Promise<void>,
  ): Promise<DecideOutcome>;
  answer(
    id: string,
    text: string,
    by: Decider,
    also?: (tables: Transaction) => Promise<void>,
  ): Promise<DecideOutcome>;
  expire(id: string): Promise<void>;
  /** The request could not be shown, so it counts as refused. */
  withdraw(id: string): Promise<void>;
  /** The person wrote something else instead, or stopped the turn. */
  supersede(sessionKey: string): Promise<number>;
}

export function createDecisions(options: DecisionsOptions): Decisions {
  const { store, clock } = options;

  async function settle(
    row: ApprovalRow,
    state: 'decided' | 'expired' | 'superseded',
    decision: ApprovalDecision | null,
    also?: (tables: Transaction) => Promise<void>,
  ): Promise<ApprovalRow | null> {
    const settledRow = await store.transaction(async (tables) => {
      if (!(await tables.approvals.settle(row.id, state, decision))) return null;
      await also?.(tables);
      const after = { ...((await tables.approvals.get(row.id)) ?? row), state, decision };
      await tables.timers.clear(`approval:${row.id}`);
      const remember = decision?.choice === 'session' || decision?.choice === 'always';
      if (remember && row.ask.kind === 'approval' && row.ask.scope) {
        await tables.grants.add(row.sessionKey, row.ask.scope, clock.now());
      }
      await options.presentOutcome(after, tables);
      await tables.audit.append({
        at: clock.now(),
        event: state === 'decided' ? 'decision' : state,
        sessionKey: row.sessionKey,
        actor: decision?.byId ?? '',
        detail: JSON.stringify({
          id: row.id,
          callId: row.callId,
          choice: decision?.choice,
          text: decision?.text,
        }),
      });
      return after;
    });
    if (settledRow) options.onSettled(settledRow);
    return settledRow;
  }

  async function open(id: string, by: Decider): Promise<DecideOutcome | ApprovalRow> {
    const row = await store.read.approvals.get(id);
    if (!row) return { kind: 'unknown' };
    if (row.askerId !== by.id && !by.isAdmin) return { kind: 'not_yours', row };
    if (row.state !== 'pending') return { kind: 'already', row };
    if (row.expiresAt > clock.now()) return row;
    const expired = await settle(row, 'expired', null);
    return { kind: 'already', row: expired ?? (await store.read.approvals.get(id)) ?? row };
  }

  async function conclude(
    row: ApprovalRow,
    decision: ApprovalDecision,
    also?: (tables: Transaction) => Promise<void>,
  ): Promise<DecideOutcome> {
    const settledRow = await settle(row, 'decided', decision, also);
    if (settledRow) return { kind: 'decided', row: settledRow };
    return { kind: 'already', row: (await store.read.approvals.get(row.id)) ?? row };
  }

  return {
    async decide(id, choice, by, reason, also) {
      const row = await open(id, by);
      if ('kind' in row) return row;
      if (row.ask.kind !== 'approval' || !row.ask.choices.includes(choice))
        return { kind: 'not_offered', row };
      if (choice === 'always') await options.keepAlways(row);
      const decision: ApprovalDecision = {
        choice,
        byId: by.id,
        byName: by.name,
        at: clock.now(),
        ...(reason && { text: reason }),
      };
      return conclude(row, decision, also);
    },
    async answer(id, text, by, also) {
      const row = await open(id, by);
      if ('kind' in row) return row;
      if (row.ask.kind !== 'question') return { kind: 'not_offered', row };
      return conclude(row, { choice: 'answer', byId: by.id, byName: by.name, at: clock.now(), text }, also);
    },
    async expire(id) {
      const row = await store.read.approvals.get(id);
      if (row?.state === 'pending' && row.expiresAt <= clock.now()) await settle(row, 'expired', null);
    },
    async withdraw(id) {
      const row = await store.read.approvals.get(id);
      if (row?.state === 'pending') await settle(row, 'superseded', null);
    },
    async supersede(sessionKey) {
      const pending = await store.read.approvals.pending(sessionKey);
      for (const row of pending) await settle(row, 'superseded', null);
      return pending.length;
    },
  };
}
