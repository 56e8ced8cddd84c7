import type { Fault, OpenAIEmulator } from '../emulators/openai/emulator.ts';
import type { TelegramEmulator } from '../emulators/telegram/telegram-emulator.ts';
import type { Fields } from '../emulators/telegram/wire.ts';
import type { Random } from './random.ts';

export interface Weather {
  /** What went wrong how often. */
  counts(): Readonly<Record<string, number>>;
  /** Sends that took effect and whose confirmation was lost, as `sentKey` names them. */
  unconfirmed: ReadonlySet<string>;
  stop(): void;
}

/** Both leave the outcome of a call in the dark. */
const unclear = ['500', 'dropBefore', 'dropAfter'] as const;
const sends = ['sendRichMessage', 'sendMessage'] as const;
/**
 * An answer whose outcome is unknown twice is given up on Telegram (docs/delivery.md); so far apart, no answer meets
 * two.
 */
const unclearEveryMs = 6_000;

/** Names what a call showed where. */
export function sentKey(fields: Fields): string {
  return JSON.stringify([fields['chat_id'], fields['rich_message'] ?? fields['text']]);
}

type Trouble = (random: Random) => void;

/** Lets things go wrong at Telegram and at the model, again and again, until stopped. */
export function startWeather(telegram: TelegramEmulator, model: OpenAIEmulator, random: Random): Weather {
  const counts: Record<string, number> = {};
  let lastUnclearAt = 0;
  /** What went well so far, and how much had when it was last spoilt: troubles must not pile up in a lull. */
  const well = { polls: 0, sends: 0, edits: 0 };
  const wellWhenSpoilt = new Map<string, number>();
  let timer: NodeJS.Timeout | undefined;
  const unconfirmed = new Set<string>();
  /** Methods whose next success goes unconfirmed. */
  const toDrop = new Set<string>();
  const stopWatching = telegram.watch({
    handedOut() {
      well.polls += 1;
    },
    called(method, fields) {
      if (sends.some((send) => send === method)) well.sends += 1;
      else if (method === 'editMessageText') well.edits += 1;
      if (toDrop.delete(method)) unconfirmed.add(sentKey(fields));
    },
  });

  const troubles: Record<string, Trouble> = {
    unclearSend({ pick }) {
      if (performance.now() - lastUnclearAt < unclearEveryMs || !wentWell('unclearSend', well.sends)) return;
      lastUnclearAt = performance.now();
      spoil(pick(sends), pick(unclear));
    },
    unclearEdit({ pick }) {
      if (wentWell('unclearEdit', well.edits))
        spoil(pick(['editMessageText', 'answerCallbackQuery']), pick(unclear));
    },
    rateLimit({ pick }) {
      if (wentWell('rateLimit', well.sends))
        telegram.fail(pick([...sends, 'editMessageText']), { status: 429, retryAfter: 1, times: 1 });
    },
    pollBreaks({ pick }) {
      if (wentWell('pollBreaks', well.polls)) spoil('getUpdates', pick(unclear));
    },
    redelivered: ({ whole }) => telegram.delivery.redeliver(whole(1, 8)),
    reordered: () => telegram.delivery.reorder(),
    delayed: () => telegram.slow(300, 'getUpdates'),
    cleared: clear,
    modelBusy: () => failModel({ kind: 'status', status: 429, retryAfter: 1 }),
    modelBroken: () => failModel({ kind: 'status', status: 500 }),
    modelGone: () => failModel({ kind: 'hangUp' }),
    modelCut: () => failModel({ kind: 'cut', afterChunks: 1 }),
  };

  function spoil(method: string, how: (typeof unclear)[number]): void {
    if (how === '500') telegram.fail(method, { status: 500, times: 1 });
    else telegram.dropSocket(method, how === 'dropBefore' ? 'before' : 'after', 1);
    if (how === 'dropAfter') toDrop.add(method);
  }

  /** Whether something of this kind went well since this trouble last came. */
  function wentWell(trouble: string, count: number): boolean {
    if (wellWhenSpoilt.get(trouble) === count) return false;
    wellWhenSpoilt.set(trouble, count);
    return true;
  }

  /** Never twice without an answer in between: a turn whose every try fails is apologised for, rightly. */
  function failModel(fault: Fault): void {
    if (wentWell('model', model.held.length)) model.fail(fault);
  }

  function clear(): void {
    telegram.clearFaults();
    toDrop.clear();
  }

  function change(): void {
    const names = Object.keys(troubles);
    const name = names[random.whole(0, names.length - 1)] ?? 'cleared';
    counts[name] = (counts[name] ?? 0) + 1;
    troubles[name]?.(random);
    timer = setTimeout(change, random.between(100, 900));
  }

  change();
  return {
    counts: () => counts,
    unconfirmed,
    stop() {
      clearTimeout(timer);
      clear();
      stopWatching();
    },
  };
}
