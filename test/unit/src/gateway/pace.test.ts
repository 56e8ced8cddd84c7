import { describe, expect, it } from 'vitest';
import type { ChatAddress } from '../../../../platforms/platform.ts';
import { createPace } from '../../../../src/gateway/outbound/pace.ts';

const limits = {
  perChatPerSecond: 1,
  perChatBurst: 3,
  groupPerMinute: 20,
  perBotPerSecond: 30,
  minEditIntervalMs: 1_100,
};
const dm = (chatId: string): ChatAddress => ({ platform: 'telegram', kind: 'dm', chatId });

function setup(change: Partial<typeof limits> = {}) {
  const clock = { time: 0, now: () => clock.time, after: () => () => undefined };
  return { clock, pace: createPace({ ...limits, ...change }, clock) };
}

describe('the pace of a bot', () => {
  it('lets a chat burst before it holds it to its long-term pace', () => {
    const { pace, clock } = setup();
    expect([1, 2, 3].map(() => pace.take(dm('1')))).toEqual([0, 0, 0]);
    expect(pace.take(dm('1'))).toBe(1_000);
    clock.time = 1_000;
    expect(pace.take(dm('1'))).toBe(0);
  });

  it('keeps chats apart, but all of them within the limit of the bot', () => {
    const { pace } = setup({ perBotPerSecond: 5 });
    for (let chat = 0; chat < 5; chat += 1) expect(pace.take(dm(String(chat)))).toBe(0);
    expect(pace.take(dm('9'))).toBe(200);
  });

  it('holds a group to its messages a minute', () => {
    const { pace, clock } = setup({ perChatBurst: 100, perChatPerSecond: 100 });
    const group: ChatAddress = { platform: 'telegram', kind: 'group', chatId: '-1' };
    for (let index = 0; index < 20; index += 1) {
      expect(pace.take(group)).toBe(0);
      clock.time += 1;
    }
    expect(pace.take(group)).toBeGreaterThan(2_000);
  });

  it('sends nothing to a chat while the platform says to wait', () => {
    const { pace, clock } = setup();
    pace.block(dm('1'), 5_000);
    expect(pace.take(dm('1'))).toBe(5_000);
    expect(pace.take(dm('2'))).toBe(0);
    clock.time = 5_000;
    expect(pace.take(dm('1'))).toBe(0);
  });

  it('never waits where the limits are infinite', () => {
    const { pace } = setup({
      perChatPerSecond: Infinity,
      perChatBurst: Infinity,
      perBotPerSecond: Infinity,
      groupPerMinute: Infinity,
    });
    expect(Array.from({ length: 100 }, () => pace.take(dm('1')))).toEqual(new Array(100).fill(0));
  });
});
