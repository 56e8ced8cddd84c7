import type { ChatAddress, OlderMessage, Payload } from '../../platforms/platform.ts';

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
  /** `progress` goes beside the queue, and is kept only for the id of its message. */
  purpose: 'card' | 'final' | 'notice' | 'interim' | 'stream' | 'progress';
  /** Idempotency key. */
  key: string;
  state: 'new' | 'sent' | 'dead';
  messageId: string | null;
  attempts: number;
  lastError: string | null;
  createdAt: number;
}

export type OutboxOp =
  | { kind: 'send'; payload: Payload; replyTo?: string; private?: boolean; silent?: boolean }
  /** Edits the message that outbox row `of` became; when that row was never sent, it is sent instead if `orSend`. */
  | { kind: 'edit'; of: number; payload: Payload; orSend: boolean }
  | { kind: 'remove'; of: number };

export type NewOutboxRow = Omit<OutboxRow, 'id' | 'state' | 'messageId' | 'attempts' | 'lastError'>;

export interface OutboxTable {
  add(row: NewOutboxRow): Promise<OutboxRow>;
  get(id: number): Promise<OutboxRow | null>;
  /** All that wait, in order. */
  waiting(): Promise<readonly OutboxRow[]>;
  /** `at` (ms): when the platform's answer was there. */
  markSent(id: number, messageId: string | null, at: number): Promise<void>;
  /** Keeps what was sent without having waited here; null when its outcome is not known. */
  addBeside(row: NewOutboxRow, messageId: string | null): Promise<void>;
  markFailed(id: number, error: string): Promise<void>;
  markDead(id: number, error: string): Promise<void>;
  /** The row of the open streamed answer of a session, if it has one. */
  openStream(sessionKey: string): Promise<OutboxRow | null>;
  /** A streamed message that became its final text, or was given up. */
  closeStreams(sessionKey: string): Promise<void>;
  /** What was sent on the platform by the moment `at` (ms), newest first. */
  sentBy(platform: string, at: number, limit: number): Promise<readonly OlderMessage[]>;
  /** When the last message to a chat was sent (ms); 0 when that is not known. */
  lastSentAt(chatKey: string): Promise<number>;
  /**
   * Whether the row's chat may hold a message of the bot, besides that of the row itself, that came after `since`
   * (ms) and whose id is not known.
   */
  isClouded(row: OutboxRow, since: number): Promise<boolean>;
  depth(): Promise<number>;
  dead(limit: number): Promise<readonly OutboxRow[]>;
  prune(before: number): Promise<void>;
}
