import { z } from 'zod';
import { errorMessage } from '../../src/errors.ts';
import type { Log } from '../../src/log.ts';
import { type SlackMessage, slackMessage } from './wire.ts';
import type { Workspace } from './workspaces.ts';

export interface ThreadHistory {
  /** What was said in a thread before `beforeTs`, oldest first, bounded. Empty when Slack does not answer in time. */
  before(workspace: Workspace, channel: string, threadTs: string, beforeTs: string): Promise<SlackMessage[]>;
}

const keptMessages = 30;
const keptCharacters = 20_000;
/** Slack waits three seconds for an acknowledgement; history may take half of that. */
const patienceMs = 1500;

const answer = z.object({ messages: z.array(slackMessage) });

/** Reads a thread's earlier messages when the bot is first called into it. */
export function createThreadHistory(log: Log): ThreadHistory {
  return {
    async before(workspace, channel, threadTs, beforeTs) {
      try {
        const args = { channel, ts: threadTs, latest: beforeTs, limit: 500 };
        const signal = AbortSignal.timeout(patienceMs);
        const { messages } = await workspace.api.call(answer, 'conversations.replies', args, signal);
        return withinBounds(messages.filter(({ ts }) => Number(ts) < Number(beforeTs)));
      } catch (error) {
        log.warn({ channel, reason: errorMessage(error) }, 'Slack: a thread is entered without its history');
        return [];
      }
    },
  };
}

/** The newest messages that fit, and always the root, which says what the thread is about. */
function withinBounds(messages: readonly SlackMessage[]): SlackMessage[] {
  const [root, ...replies] = messages;
  if (root === undefined) return [];
  const kept: SlackMessage[] = [];
  let characters = root.text?.length ?? 0;
  for (const message of replies.toReversed()) {
    characters += message.text?.length ?? 0;
    if (kept.length >= keptMessages - 1 || characters > keptCharacters) break;
    kept.unshift(message);
  }
  return [root, ...kept];
}
