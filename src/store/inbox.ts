import type { InboundEvent, OlderMessage } from '../../platforms/platform.ts';

/** One event received, stored before the platform is told so. Unique by platform and event id for seven days. */
export interface InboxRow {
  id: number;
  platform: string;
  eventId: string;
  sessionKey: string;
  event: InboundEvent;
  /**
   * `new` waits for its turn, `taken` is part of the running turn, `done` is answered, `dead` was given up (the
   * chat was told).
   */
  state: 'new' | 'taken' | 'done' | 'dead';
  /** What it is to the session: its own turn, a remark into the running one, background knowledge, a command. */
  role: 'turn' | 'steer' | 'context' | 'command';
  /** Rows of one group become one message: an album, or a text that the platform had split. */
  groupKey: string;
  /** Not before this time (ms), so that the rest of the group can arrive. */
  readyAt: number;
  receivedAt: number;
}

export type NewInboxRow = Omit<InboxRow, 'id'>;

export interface InboxTable {
  /** The new row's id, or null for an event seen before. */
  add(row: NewInboxRow): Promise<number | null>;
  /** Rows of the session that wait for the agent, oldest first: no commands. */
  waiting(sessionKey: string): Promise<readonly InboxRow[]>;
  countWaiting(sessionKey: string): Promise<number>;
  taken(sessionKey: string): Promise<readonly InboxRow[]>;
  setState(ids: readonly number[], state: InboxRow['state']): Promise<void>;
  setRole(ids: readonly number[], role: InboxRow['role']): Promise<void>;
  /** All `taken` rows of the session become `state`. */
  settle(sessionKey: string, state: 'done' | 'dead' | 'new'): Promise<void>;
  /** Moves the moment of a group, as more of it arrives. */
  delayGroup(sessionKey: string, groupKey: string, readyAt: number): Promise<void>;
  /** Replaces the text of a message that still waits; false when there is none. */
  editWaiting(sessionKey: string, messageId: string, text: string): Promise<boolean>;
  /** Commands that were stored but not carried out before the process ended. */
  waitingCommands(): Promise<readonly InboxRow[]>;
  sessionsWithWork(): Promise<readonly string[]>;
  /** What was received from the platform by the moment `at` (ms), newest first. */
  receivedBy(platform: string, at: number, limit: number): Promise<readonly OlderMessage[]>;
  depth(): Promise<number>;
  /** Forgets settled rows received before `before` (ms). */
  prune(before: number): Promise<void>;
}
