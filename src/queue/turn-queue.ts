/**
 * Who works on which session, and when. It holds no message: the store does. Losing the whole queue loses nothing,
 * because recovery enqueues every session that has work.
 */
export interface TurnQueue {
  /**
   * At most one handler runs for a key at any moment; a key enqueued meanwhile is handled once more after. No one
   * `person` gets more than a share of the room, so that others are answered while all of a person's sessions hang.
   */
  enqueue(sessionKey: string, person?: string): Promise<void>;
  start(handler: (sessionKey: string) => Promise<void>): void;
  /** Takes no new work; resolves when the running handlers are done, or after `graceMs`. */
  stop(graceMs: number): Promise<void>;
  readonly active: number;
  readonly depth: number;
}
