import type { ChatAddress, Payload } from '../../platforms/platform.ts';

/**
 * One API call to make. Stored before it is sent, marked with the platform's message id after; what was never
 * marked is sent again at start.
 */
export interface OutboxRow {
  id: number;
  platform: string;
  chat: ChatAddress;
  /** Order is kept within it. */
  chatKey: string;
  sessionKey: string;
  op: OutboxOp;
  purpose: 'card' | 'final' | 'notice' | 'interim' | 'stream';
  /** Idempotency key. */
  key: string;
  state: 'new' | 'sent' | 'dead';
  messageId: string | null;
  attempts: number;
  lastError: string | null;
  createdAt: number;
}

export type OutboxOp =
  | { kind: 'send'; payload: Payload; replyTo?: string; silent?: boolean }
  /** Edits the message that outbox row `of` became; when that row was never sent, it is sent instead if `orSend`. */
  | { kind: 'edit'; of: number; payload: Payload; orSend: boolean }
  | { kind: 'remove'; of: number };

export type NewOutboxRow = Omit<OutboxRow, 'id' | 'state' | 'messageId' | 'attempts' | 'lastError'>;

export interface OutboxTable {
  add(row: NewOutboxRow): Promise<OutboxRow>;
  get(id: number): Promise<OutboxRow | null>;
  /** All that wait, in order. */
  waiting(): Promise<readonly OutboxRow[]>;
  markSent(id: number, messageId: string | null): Promise<void>;
  markFailed(id: number, error: string): Promise<void>;
  markDead(id: number, error: string): Promise<void>;
  /** The row of the open streamed answer of a session, if it has one. */
  openStream(sessionKey: string): Promise<OutboxRow | null>;
  /** A streamed message that became its final text, or was given up. */
  closeStreams(sessionKey: string): Promise<void>;
  depth(): Promise<number>;
  dead(limit: number): Promise<readonly OutboxRow[]>;
  prune(before: number): Promise<void>;
}
