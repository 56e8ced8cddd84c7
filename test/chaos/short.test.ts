import { describe, expect, it } from 'vitest';
import { runChaos } from './chaos.ts';

describe('twenty kills among failing networks', () => {
  it('lose nothing, run nothing twice and leave nothing stuck', { timeout: 150_000 }, async () => {
    const report = await runChaos({ seed: 7, kills: 20, minutes: 0.6, chats: 12, messagesPerChat: 8 });
    expect(report.violations).toEqual([]);
    expect(report.messages).toBe(96);
    expect(report.kills).toBe(20);
  });
});
