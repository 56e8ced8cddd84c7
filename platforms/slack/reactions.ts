import { z } from 'zod';
import { anyAnswer } from './api.ts';
import { slackCode } from './errors.ts';
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
export async function react(
  { api, botUserId }: Workspace,
  channel: string,
  timestamp: string,
  emoji: string | null,
  signal: AbortSignal,
): Promise<void> {
  const wanted = emoji === null ? undefined : names[emoji];
  if (emoji !== null && wanted === undefined) return;
  const { message } = await api.call(answer, 'reactions.get', { channel, timestamp }, signal);
  const mine = message.reactions.filter(({ users }) => users.includes(botUserId)).map(({ name }) => name);
  for (const name of mine.filter((old) => old !== wanted)) {
    await unlessAlready(
      'no_reaction',
      api.call(anyAnswer, 'reactions.remove', { channel, timestamp, name }, signal),
    );
  }
  if (wanted !== undefined && !mine.includes(wanted)) {
    await unlessAlready(
      'already_reacted',
      api.call(anyAnswer, 'reactions.add', { channel, timestamp, name: wanted }, signal),
    );
  }
}

async function unlessAlready(code: string, call: Promise<unknown>): Promise<void> {
  await call.catch((error: unknown) => {
    if (slackCode(error) !== code) throw error;
  });
}
