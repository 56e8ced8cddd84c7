import { errorMessage } from '../../src/errors.ts';
import type { Log } from '../../src/log.ts';
import { messagesFor } from '../../src/messages/messages.ts';
import type { ChatAddress } from '../platform.ts';
import { anyAnswer, type SlackApi } from './api.ts';
import { slackCode } from './errors.ts';
import type { Previews } from './previews.ts';

export interface ActivityDeps {
  apiOf(chat: ChatAddress): SlackApi;
  previews: Previews;
  /** The language of whom the bot works for; undefined when it is not known. */
  localeOf(chat: ChatAddress): string | undefined;
  log: Log;
}

/** Shows that the bot is at work: a thread's status line where Slack has one, else a placeholder message. */
export function createActivity({ apiOf, previews, localeOf, log }: ActivityDeps) {
  /** Workspaces whose app may not set a status. */
  const withoutStatus = new Set<string>();

  async function setStatus(chat: ChatAddress, status: string, signal: AbortSignal): Promise<boolean> {
    const team = chat.workspaceId ?? '';
    if (chat.threadId === undefined || withoutStatus.has(team)) return false;
    try {
      const args = { channel_id: chat.chatId, thread_ts: chat.threadId, status };
      await apiOf(chat).call(anyAnswer, 'assistant.threads.setStatus', args, signal);
      return true;
    } catch (error) {
      const code = slackCode(error);
      if (code === 'missing_scope' || code === 'unknown_method') withoutStatus.add(team);
      return false;
    }
  }

  return async (chat: ChatAddress, activity: 'working' | 'idle', signal: AbortSignal): Promise<void> => {
    try {
      if (activity === 'idle') {
        previews.dropLater(chat);
        await setStatus(chat, '', signal);
      } else if (!(await setStatus(chat, messagesFor(localeOf(chat)).adapter.thinking, signal))) {
        await previews.announce(chat, signal);
      }
    } catch (error) {
      log.debug({ reason: errorMessage(error) }, 'Slack: the sign of activity could not be shown');
    }
  };
}
