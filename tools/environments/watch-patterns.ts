import type { Clock } from '../../src/clock.ts';

/** Looks for patterns in a process's new lines, and keeps a chatty process from flooding the chat. */
export interface PatternWatch {
  feed(text: string): WatchEvent | null;
}

export type WatchEvent =
  | { kind: 'matched'; lines: readonly string[]; suppressed: number }
  /** Too many matches: watching ends, the completion is told instead. */
  | { kind: 'gave_up' };

/** Notices of all processes together. */
export interface NoticeBreaker {
  allow(): boolean;
}

const noticeEveryMs = 15_000;
const maxStrikes = 3;
const maxHits = 8;
const maxLinesShown = 20;
const breakerNotices = 15;
const breakerWindowMs = 10_000;
const breakerPauseMs = 30_000;

export function createPatternWatch(
  patterns: readonly string[],
  clock: Clock,
  breaker: NoticeBreaker,
): PatternWatch {
  let partial = '';
  let hits = 0;
  let strikes = 0;
  let struckInWindow = false;
  let suppressed = 0;
  let lastNoticeAt = Number.NEGATIVE_INFINITY;
  let over = false;

  return {
    feed(text) {
      if (over) return null;
      const lines = (partial + text).split('\n');
      partial = (lines.pop() ?? '').slice(-4_096);
      const matches = lines.filter((line) => patterns.some((pattern) => line.includes(pattern)));
      if (matches.length === 0) return null;
      const now = clock.now();
      if (now - lastNoticeAt < noticeEveryMs) {
        suppressed += matches.length;
        if (!struckInWindow) strikes += 1;
        struckInWindow = true;
        over = strikes >= maxStrikes;
        return over ? { kind: 'gave_up' } : null;
      }
      if (!breaker.allow()) return null;
      hits += 1;
      over = hits >= maxHits;
      lastNoticeAt = now;
      struckInWindow = false;
      const event: WatchEvent = { kind: 'matched', lines: matches.slice(0, maxLinesShown), suppressed };
      suppressed = 0;
      return event;
    },
  };
}

export function createNoticeBreaker(clock: Clock): NoticeBreaker {
  let recent: number[] = [];
  let pausedUntil = 0;
  return {
    allow() {
      const now = clock.now();
      if (now < pausedUntil) return false;
      recent = recent.filter((at) => now - at < breakerWindowMs);
      if (recent.length >= breakerNotices) {
        pausedUntil = now + breakerPauseMs;
        return false;
      }
      recent.push(now);
      return true;
    },
  };
}
