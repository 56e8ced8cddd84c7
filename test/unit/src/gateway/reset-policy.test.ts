import { describe, expect, it } from 'vitest';
import { resetReason } from '../../../../src/gateway/reset-policy.ts';

const at = (text: string) => new Date(text).getTime();
const both = { mode: 'both', atHour: 4, idleMinutes: 1440 } as const;

describe('the automatic reset of a session', () => {
  it('comes at the daily hour', () => {
    expect(resetReason(both, at('2026-03-02T03:00:00'), at('2026-03-02T03:59:00'))).toBeNull();
    expect(resetReason(both, at('2026-03-02T03:00:00'), at('2026-03-02T04:01:00'))).toBe('daily');
    expect(resetReason(both, at('2026-03-02T05:00:00'), at('2026-03-02T23:00:00'))).toBeNull();
  });

  it("looks at yesterday's boundary before today's hour", () => {
    expect(resetReason(both, at('2026-03-01T03:00:00'), at('2026-03-02T01:00:00'))).toBe('daily');
    expect(resetReason(both, at('2026-03-01T05:00:00'), at('2026-03-02T01:00:00'))).toBeNull();
  });

  it('comes after idle time', () => {
    const idle = { mode: 'idle', atHour: 4, idleMinutes: 60 } as const;
    expect(resetReason(idle, 0, 59 * 60_000)).toBeNull();
    expect(resetReason(idle, 0, 61 * 60_000)).toBe('idle');
  });

  it('never comes when it is off', () => {
    expect(resetReason({ mode: 'none', atHour: 4, idleMinutes: 1 }, 0, 1e15)).toBeNull();
  });

  it('keeps the local hour when clocks change', () => {
    const zone = process.env['TZ'];
    process.env['TZ'] = 'Europe/Berlin';
    try {
      // 29 March 2026: 02:00 becomes 03:00.
      expect(resetReason(both, at('2026-03-29T01:30:00'), at('2026-03-29T03:30:00'))).toBeNull();
      expect(resetReason(both, at('2026-03-29T01:30:00'), at('2026-03-29T04:00:30'))).toBe('daily');
    } finally {
      if (zone === undefined) delete process.env['TZ'];
      else process.env['TZ'] = zone;
    }
  });
});
