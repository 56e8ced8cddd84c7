import { z } from 'zod';
import type { Clock } from '../../src/clock.ts';
import { createOwnMarks } from '../own-marks.ts';
import { anyAnswer, type CallArgs, type SlackApi } from './api.ts';
import { slackCode } from './errors.ts';
import { isTs, tsToMs } from './wire.ts';
import type { Workspace } from './workspaces.ts';

/** Slack knows reactions by name. Others than these are left out. */
const names: Readonly<Record<string, string>> = {
  '👀': 'eyes',
  '✅': 'white_check_mark',
  '❌': 'x',
  '👍': '+1',
  '👎': '-1',
  '⏳': 'hourglass_flowing_sand',
  '🤔': 'thinking_face',
  '🎉': 'tada',
  '❤️': 'heart',
  '❤': 'heart',
  '🔥': 'fire',
  '🙏': 'pray',
  '⚠️': 'warning',
  '🚫': 'no_entry_sign',
  '⛔': 'no_entry',
  '💯': '100',
  '😂': 'joy',
  '👏': 'clap',
};

const answer = z.object({
  message: z.object({
    reactions: z.array(z.object({ name: z.string(), users: z.array(z.string()) })).default([]),
  }),
});

/** Makes `emoji` the bot's one reaction to the message; null takes its reactions away. */
export function createReactions(clock: Clock) {
  const marks = createOwnMarks(clock);

  return async (
    { api, botUserId }: Workspace,
    channel: string,
    timestamp: string,
    emoji: string | null,
    signal: AbortSignal,
  ): Promise<void> => {
    const wanted = emoji === null ? null : names[emoji];
    // A slash command is no message, so nothing can be put on it.
    if (wanted === undefined || !isTs(timestamp)) return;
    const place = { channel, timestamp };
    const message = { id: `${channel}:${timestamp}`, sentAtMs: tsToMs(timestamp) };
    const before = marks.on(message);
    try {
      const mine = before === undefined ? await marksOn(api, botUserId, place, signal) : listOf(before);
      await replace(api, place, mine, wanted, signal);
      marks.note(message, wanted);
    } catch (error) {
      marks.forget(message);
      throw error;
    }
  };
}

async function replace(
  api: SlackApi,
  place: CallArgs,
  mine: readonly string[],
  wanted: string | null,
  signal: AbortSignal,
): Promise<void> {
  for (const name of mine.filter((old) => old !== wanted)) {
    await unlessAlready('no_reaction', api.call(anyAnswer, 'reactions.remove', { ...place, name }, signal));
  }
  if (wanted === null || mine.includes(wanted)) return;
  await unlessAlready(
    'already_reacted',
    api.call(anyAnswer, 'reactions.add', { ...place, name: wanted }, signal),
  );
}

async function marksOn(
  api: SlackApi,
  botUserId: string,
  place: CallArgs,
  signal: AbortSignal,
): Promise<string[]> {
  const { message } = await api.call(answer, 'reactions.get', place, signal);
  return message.reactions.filter(({ users }) => users.includes(botUserId)).map(({ name }) => name);
}

const listOf = (mark: string | null): string[] => (mark === null ? [] : [mark]);

async function unlessAlready(code: string, call: Promise<unknown>): Promise<void> {
  await call.catch((error: unknown) => {
    if (slackCode(error) !== code) throw error;
  });
}
