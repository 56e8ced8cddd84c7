import { expect, test } from 'vitest';
import { createNoticeBreaker, createPatternWatch } from '../../../../tools/environments/watch-patterns.ts';

function setUp(patterns = ['ERROR']) {
  let nowMs = 1_000_000;
  const clock = { now: () => nowMs, after: () => () => undefined };
  const watch = createPatternWatch(patterns, clock, createNoticeBreaker(clock));
  const pass = (ms: number) => {
    nowMs += ms;
  };
  return { clock, watch, pass };
}

test('a line with a pattern is told, also when it comes in pieces', () => {
  const { watch } = setUp();
  expect(watch.feed('all fine\nERR')).toBeNull();
  expect(watch.feed('OR: disk\nmore')).toEqual({ kind: 'matched', lines: ['ERROR: disk'], suppressed: 0 });
});

test('within 15 seconds nothing more is told, then with the count of what was left out', () => {
  const { watch, pass } = setUp();
  watch.feed('ERROR 1\n');
  expect(watch.feed('ERROR 2\nERROR 3\n')).toBeNull();
  pass(15_000);
  expect(watch.feed('ERROR 4\n')).toEqual({ kind: 'matched', lines: ['ERROR 4'], suppressed: 2 });
});

test('after three windows with too many matches watching ends', () => {
  const { watch, pass } = setUp();
  const seen = [];
  for (let window = 0; window < 4; window += 1) {
    seen.push(watch.feed('ERROR\n')?.kind ?? null, watch.feed('ERROR\n')?.kind ?? null);
    pass(15_000);
  }
  expect(seen).toEqual(['matched', null, 'matched', null, 'matched', 'gave_up', null, null]);
});

test('a process tells at most eight matches', () => {
  const { watch, pass } = setUp();
  let told = 0;
  for (let index = 0; index < 20; index += 1) {
    if (watch.feed('ERROR\n') !== null) told += 1;
    pass(20_000);
  }
  expect(told).toBe(8);
});

test('fifteen notices of all processes within ten seconds pause them for thirty', () => {
  const { clock, pass } = setUp();
  const breaker = createNoticeBreaker(clock);
  const allowed = Array.from({ length: 20 }, () => breaker.allow());
  expect(allowed.filter(Boolean)).toHaveLength(15);
  pass(29_000);
  expect(breaker.allow()).toBe(false);
  pass(2_000);
  expect(breaker.allow()).toBe(true);
});
