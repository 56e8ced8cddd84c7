import type { Clock } from '../../src/clock.ts';

export interface Activity {
  isWorking(chatId: string): boolean;
  show(chatId: string, working: boolean): void;
  stop(): void;
}

/** The sign of work is renewed every few seconds; without a renewal the worker is gone. */
const lapseMs = 15_000;

/** Keeps which chats the bot works in, and calls `onChange` when that changes. */
export function createActivity(clock: Clock, onChange: (chatId: string, working: boolean) => void): Activity {
  const lapses = new Map<string, () => void>();

  function end(chatId: string): void {
    lapses.get(chatId)?.();
    if (lapses.delete(chatId)) onChange(chatId, false);
  }

  return {
    isWorking: (chatId) => lapses.has(chatId),
    show(chatId, working) {
      if (!working) return end(chatId);
      const cancel = lapses.get(chatId);
      cancel?.();
      lapses.set(
        chatId,
        clock.after(lapseMs, () => end(chatId)),
      );
      if (cancel === undefined) onChange(chatId, true);
    },
    stop() {
      for (const cancel of lapses.values()) cancel();
      lapses.clear();
    },
  };
}
