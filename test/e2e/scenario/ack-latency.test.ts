import { describe, expect, test } from 'vitest';
import { answerTimesWhileBusy, percentile } from './busy-chats.ts';
import { openDiscord } from './discord-stage.ts';
import { openSlack } from './slack-stage.ts';

/** Each platform gives up on an app that is silent for three seconds; nobody should come near that. */
describe.each([
  { name: 'Discord', open: openDiscord, mostMs: 300 },
  { name: 'Slack', open: openSlack, mostMs: 200 },
])('$name, while a hundred chats are busy', ({ open, mostMs }) => {
  // A machine that does other work meanwhile may spoil one measurement, not three.
  test(`is answered within ${mostMs} ms in 99 of 100 cases`, { retry: 2 }, async () => {
    const { timesMs, someWereBusy, violations } = await answerTimesWhileBusy(open);
    expect(someWereBusy).toBe(true);
    expect(percentile(timesMs, 0.99)).toBeLessThanOrEqual(mostMs);
    expect(violations).toEqual([]);
  });
});
