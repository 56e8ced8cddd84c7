import { createRandom, type Random } from './random.ts';

/** What a message makes the scripted model do. */
export type Deed =
  /** Answer at once. */
  | 'talk'
  /** Append a line to the ledger: harmless, runs at once. */
  | 'append'
  /** Append a line and remove a folder: a person is asked. */
  | 'remove';

export type Intent = 'approve' | 'deny' | 'ignore';

export interface PlannedMessage {
  /** Stands in the message, the command, the ledger line and the answer. */
  id: string;
  deed: Deed;
  /** What the person does with the card. */
  intent: Intent;
  pressesTwice: boolean;
  thinkMs: number;
}

export interface ChaosOptions {
  seed: number;
  kills: number;
  /** How long the kills are spread over. */
  minutes: number;
  chats: number;
  messagesPerChat: number;
}

export interface Kill {
  /** Counted from the last start of the process (ms). */
  afterMs: number;
  /** Before the process is ready. */
  duringStart: boolean;
}

export interface Plan {
  chats: readonly (readonly PlannedMessage[])[];
  kills: readonly Kill[];
  /** For what goes wrong meanwhile. */
  weather: Random;
}

const killsDuringStart = 0.15;
/** About what a start takes, for the length of the whole. */
const startMs = 700;

/** All that chance decides, by the seed alone; only the moments are the machine's. */
export function makePlan(options: ChaosOptions): Plan {
  const totalMs = options.minutes * 60_000;
  const meanThinkMs = totalMs / options.messagesPerChat;
  const people = createRandom(options.seed);
  const chats = Array.from({ length: options.chats }, (_, chat) =>
    Array.from({ length: options.messagesPerChat }, (__, count) =>
      planMessage(people, `m${chat}x${count}`, meanThinkMs),
    ),
  );
  const killer = createRandom(options.seed + 1);
  const meanGapMs = Math.max(200, totalMs / Math.max(1, options.kills) - startMs);
  const kills = Array.from({ length: options.kills }, () =>
    killer.chance(killsDuringStart)
      ? { duringStart: true, afterMs: killer.between(20, 500) }
      : { duringStart: false, afterMs: killer.between(0.1, 1.9) * meanGapMs },
  );
  return { chats, kills, weather: createRandom(options.seed + 2) };
}

function planMessage(random: Random, id: string, meanThinkMs: number): PlannedMessage {
  return {
    id,
    deed: random.pick(['talk', 'append', 'remove']),
    intent: random.pick(['approve', 'approve', 'approve', 'deny', 'ignore']),
    pressesTwice: random.chance(0.2),
    thinkMs: random.between(0, 2) * meanThinkMs * 0.8,
  };
}
