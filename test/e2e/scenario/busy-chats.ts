import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { openStage } from './open-stage.ts';
import type { TimedPlatform } from './stage.ts';

const busyChats = 100;
const cards = 20;
/** Streams for some four seconds. */
const longReply = { text: 'lorem ipsum dolor sit '.repeat(20), pieceUnits: 22, pauseMs: 200 };

export interface AnswerTimes {
  /** How long each message, press and command waited for its first answer. */
  timesMs: number[];
  /** Whether answers still streamed when all was answered; else nothing was measured. */
  someWereBusy: boolean;
  violations: readonly string[];
}

/** A hundred chats in which an answer streams; meanwhile people press cards and give commands. */
export async function answerTimesWhileBusy(open: () => Promise<TimedPlatform>): Promise<AnswerTimes> {
  const stage = await openStage(open, `limits: {max_concurrent_sessions: ${busyChats + cards}}\n`);
  try {
    const { platform, model, until, folder } = stage;
    const deciders = Array.from({ length: cards }, (_, index) => platform.addPerson(`Decider${index}`));
    for (const [index, decider] of deciders.entries()) {
      await mkdir(join(folder, `build${index}`));
      decider.says(`run \`rm -r ${join(folder, `build${index}`)}\``);
    }
    for (const decider of deciders) await until.botShows('May I run this?', decider.dm);

    model.say(...Array.from({ length: busyChats }, () => longReply));
    const talkers = Array.from({ length: busyChats }, (_, index) => platform.addPerson(`Talker${index}`));
    const before = model.requests.length;
    const answersBefore = platform.answersMs().length;
    for (const talker of talkers) await arrives(() => talker.says('talk to me'));
    await until.holds('a hundred running turns', () => model.requests.length === before + busyChats);
    const answeredBefore = model.held.length;

    const presses: Promise<void>[] = [];
    for (const decider of deciders) await arrives(() => presses.push(decider.presses('Once')));
    for (const talker of talkers) await arrives(() => talker.commands('status'));
    await Promise.all(presses);
    await until.holds('all answers', () => platform.answersMs().every((ms) => ms !== undefined));
    const timesMs = platform
      .answersMs()
      .slice(answersBefore)
      .flatMap((ms) => ms ?? []);
    if (timesMs.length < busyChats + cards)
      throw new Error(`${timesMs.length} answers to ${busyChats + cards} acts`);
    const someWereBusy = model.held.length - answeredBefore < busyChats;
    return { timesMs, someWereBusy, violations: platform.violations() };
  } finally {
    await stage.close();
  }
}

/** People act a hundred times a second in all, not in the same instant. */
async function arrives(act: () => unknown): Promise<void> {
  act();
  await new Promise((resolve) => setTimeout(resolve, 10));
}

export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.ceil(sorted.length * share) - 1] ?? Number.POSITIVE_INFINITY;
}
