import { z } from 'zod';
import type { Clock } from '../../src/clock.ts';
import { errorMessage } from '../../src/errors.ts';
import type { Log } from '../../src/log.ts';
import type { PlatformSink } from '../platform.ts';
import type { Inbound } from './inbound.ts';
import type { Seen } from './seen.ts';
import type { Threads } from './threads.ts';
import { type MessageEvent, msToTs, type SlackMessage, slackMessage } from './wire.ts';
import type { Workspaces } from './workspaces.ts';

const horizonMs = 24 * 3_600_000;
const mostMessages = 100;
const mostThreads = 50;

const answer = z.object({ messages: z.array(slackMessage) });

export interface CatchUpDeps {
  workspaces: Workspaces;
  inbound: Inbound;
  seen: Seen;
  threads: Threads;
  clock: Clock;
  log: Log;
}

/**
 * Asks for what came while nobody listened: the newest messages of every known channel and followed thread, at most
 * a day back. They take the same way as live events, so one that arrives twice is dropped by its id.
 */
export async function catchUp(deps: CatchUpDeps, sink: PlatformSink, signal: AbortSignal): Promise<void> {
  const { seen, threads, clock, log } = deps;
  const oldestMs = clock.now() - horizonMs;
  const marks = await seen.all();
  const lastSeen = new Map(marks.map(({ teamId, channel, ts }) => [`${teamId}:${channel}`, ts]));
  const since = (teamId: string, channel: string) => {
    const mark = lastSeen.get(`${teamId}:${channel}`) ?? '0';
    return Number(mark) * 1000 > oldestMs ? mark : msToTs(oldestMs);
  };
  const questions: Question[] = marks.map(({ teamId, channel }) => ({
    teamId,
    channel,
    since: since(teamId, channel),
  }));
  for (const thread of (await threads.active(oldestMs)).slice(0, mostThreads)) {
    questions.push({ ...thread, since: since(thread.teamId, thread.channel) });
  }
  for (const question of questions) {
    if (signal.aborted) return;
    try {
      await ask(deps, question, sink, signal);
    } catch (error) {
      log.warn(
        { channel: question.channel, reason: errorMessage(error) },
        'Slack: could not catch up on a channel',
      );
    }
  }
}

interface Question {
  teamId: string;
  channel: string;
  threadTs?: string;
  since: string;
}

async function ask(
  { workspaces, inbound }: CatchUpDeps,
  { teamId, channel, threadTs, since }: Question,
  sink: PlatformSink,
  signal: AbortSignal,
): Promise<void> {
  if (!workspaces.has(teamId)) return;
  const workspace = workspaces.of(teamId);
  const page = { channel, oldest: since, limit: mostMessages };
  const { messages } =
    threadTs === undefined
      ? await workspace.api.call(answer, 'conversations.history', page, signal)
      : await workspace.api.call(answer, 'conversations.replies', { ...page, ts: threadTs }, signal);
  const missed = messages
    .filter(({ ts }) => Number(ts) > Number(since))
    .toSorted((a, b) => Number(a.ts) - Number(b.ts));
  for (const message of missed) await inbound.handle(asEvent(message, channel), workspace, sink);
}

/** History says neither channel nor channel type; a DM's id says the latter. */
function asEvent(message: SlackMessage, channel: string): MessageEvent {
  return { ...message, type: 'message', channel, ...(channel.startsWith('D') ? { channel_type: 'im' } : {}) };
}
