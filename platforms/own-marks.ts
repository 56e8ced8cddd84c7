import type { Clock } from '../src/clock.ts';

export interface MarkedMessage {
  id: string;
  /** By the platform's clock. */
  sentAtMs: number;
}

/** The bot's one reaction on each message, as far as it is known without asking: each question costs a call. */
export interface OwnMarks {
  /** The reaction on the message; null for none, undefined when only the platform can tell. */
  on(message: MarkedMessage): string | null | undefined;
  note(message: MarkedMessage, mark: string | null): void;
  forget(message: MarkedMessage): void;
}

/** How far a platform’s clock may be ahead of this one; past that an old mark may stay beside the new. */
const clockMarginMs = 1_000;
const keptMessages = 1000;

export function createOwnMarks(clock: Clock): OwnMarks {
  const known = new Map<string, { sentAtMs: number; mark: string | null }>();
  /** What was written later has never borne a reaction that is not in `known`. */
  let horizonMs = clock.now() + clockMarginMs;
  return {
    on({ id, sentAtMs }) {
      const entry = known.get(id);
      if (entry !== undefined) return entry.mark;
      return sentAtMs > horizonMs ? null : undefined;
    },
    note({ id, sentAtMs }, mark) {
      known.delete(id);
      known.set(id, { sentAtMs, mark });
      const [oldest] = known;
      if (known.size <= keptMessages || oldest === undefined) return;
      known.delete(oldest[0]);
      horizonMs = Math.max(horizonMs, oldest[1].sentAtMs);
    },
    forget({ id, sentAtMs }) {
      known.delete(id);
      horizonMs = Math.max(horizonMs, sentAtMs);
    },
  };
}
