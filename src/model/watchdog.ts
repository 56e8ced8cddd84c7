import type { Clock } from '../clock.ts';

export interface Limits {
  /** The whole attempt. 0 means no limit, here and below. */
  ceilingMs: number;
  /** Without a single byte. */
  silenceMs: number;
  /** Without a piece of the answer: a server may keep a dead stream open with comments. */
  staleMs: number;
}

export interface Watchdog {
  sawByte(): void;
  sawPiece(): void;
  stop(): void;
}

/**
 * Calls `expire` once, when one of the limits has passed. One timer that looks back when it fires, rather than one
 * set anew at every byte.
 */
export function createWatchdog(clock: Clock, limits: Limits, expire: (what: string) => void): Watchdog {
  const startedAt = clock.now();
  let byteAt = startedAt;
  let pieceAt = startedAt;

  const rules = [
    { ms: limits.ceilingMs, since: () => startedAt, what: 'no end' },
    { ms: limits.silenceMs, since: () => byteAt, what: 'silence' },
    { ms: limits.staleMs, since: () => pieceAt, what: 'nothing new' },
  ].filter((rule) => rule.ms > 0);

  let cancel = schedule();

  function schedule(): () => void {
    const dueAt = Math.min(...rules.map((rule) => rule.since() + rule.ms));
    return Number.isFinite(dueAt) ? clock.after(dueAt - clock.now(), check) : () => undefined;
  }

  function check(): void {
    const now = clock.now();
    const broken = rules.find((rule) => now >= rule.since() + rule.ms);
    if (broken === undefined) cancel = schedule();
    else expire(`${broken.what} for ${Math.round(broken.ms / 1000)} s`);
  }

  return {
    sawByte: () => {
      byteAt = clock.now();
    },
    sawPiece: () => {
      pieceAt = clock.now();
    },
    stop: () => cancel(),
  };
}
