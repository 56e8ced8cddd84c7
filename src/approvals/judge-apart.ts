import { Worker } from 'node:worker_threads';
import { moduleFile } from '../package-root.ts';
import { unjudged } from './detect.ts';
import type { UserPatternLists } from './user-patterns.ts';
import type { CommandContext, Judgement } from './verdict.ts';

const withinMs = 5_000;
const heapMb = 128;

export interface LongCommand {
  command: string;
  context: CommandContext;
  lists: UserPatternLists;
}

/**
 * Judges a long command in a thread of its own, so that it holds up no other chat. Never rejects: a thread that takes
 * over 5 s, or more than 128 MB, is ended, and the command counts as one that could not be judged.
 */
export function judgeApart({ command, context, lists }: LongCommand): Promise<Judgement> {
  return new Promise((resolve) => {
    const worker = new Worker(moduleFile('src/approvals/judge-worker'), {
      workerData: { command, context, lists: { deny: lists.deny, ask: lists.ask, allow: lists.allow } },
      resourceLimits: { maxOldGenerationSizeMb: heapMb },
    });
    const end = (judgement: Judgement) => {
      clearTimeout(late);
      resolve(judgement);
      void worker.terminate();
    };
    const giveUp = () => end(unjudged(command));
    const late = setTimeout(giveUp, withinMs);
    worker.once('message', end);
    worker.once('error', giveUp);
    worker.once('exit', giveUp);
  });
}
