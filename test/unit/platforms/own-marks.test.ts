import { describe, expect, it } from 'vitest';
import { createOwnMarks } from '../../../platforms/own-marks.ts';
import { createTestClock } from '../../support/test-clock.ts';

const minute = 60_000;

describe('what is known of the reaction on a message', () => {
  const clock = createTestClock();
  const at = (id: string, sentAtMs: number) => ({ id, sentAtMs });

  it('is nothing, when an earlier process may have put one there', () => {
    expect(createOwnMarks(clock).on(at('old', clock.now() - minute))).toBeUndefined();
  });

  it('is that there is none, when the message is younger than the process', () => {
    expect(createOwnMarks(clock).on(at('new', clock.now() + minute))).toBeNull();
  });

  it('is the last one noted, until a failure leaves it open', () => {
    const marks = createOwnMarks(clock);
    const message = at('m', clock.now() + minute);
    marks.note(message, '👀');
    expect(marks.on(message)).toBe('👀');
    marks.note(message, null);
    expect(marks.on(message)).toBeNull();
    marks.forget(message);
    expect(marks.on(message)).toBeUndefined();
  });

  it('is asked for again once it was one of too many', () => {
    const marks = createOwnMarks(clock);
    const messages = Array.from({ length: 1001 }, (_, index) =>
      at(`m${index}`, clock.now() + minute + index),
    );
    for (const message of messages) marks.note(message, '✅');
    expect(messages.map(marks.on).filter((mark) => mark === undefined)).toHaveLength(1);
    expect(marks.on(at('next', clock.now() + 2 * minute))).toBeNull();
  });
});
