import { answerTimesWhileBusy, percentile } from '../../e2e/scenario/busy-chats.ts';
import { openDiscord } from '../../e2e/scenario/discord-stage.ts';
import { openSlack } from '../../e2e/scenario/slack-stage.ts';
import type { TimedPlatform } from '../../e2e/scenario/stage.ts';
import type { Figures } from '../figures.ts';

/** How long a platform waits for the first answer to a message, a press or a command, while a hundred chats stream. */
export async function measureBusy(): Promise<Figures> {
  return { 'discord.interaction_p99': await p99(openDiscord), 'slack.ack_p99': await p99(openSlack) };
}

async function p99(open: () => Promise<TimedPlatform>): Promise<number> {
  const { timesMs, someWereBusy, violations } = await answerTimesWhileBusy(open);
  if (!someWereBusy) throw new Error('the chats were done before all was answered');
  if (violations.length > 0) throw new Error(violations.join('\n'));
  return percentile(timesMs, 0.99);
}
