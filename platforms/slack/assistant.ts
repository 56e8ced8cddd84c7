import { errorMessage } from '../../src/errors.ts';
import type { Log } from '../../src/log.ts';
import { messagesFor } from '../../src/messages/messages.ts';
import { anyAnswer } from './api.ts';
import type { People } from './people.ts';
import { assistantStarted } from './wire.ts';
import type { Workspace } from './workspaces.ts';

/** Greets a new assistant thread with prompts. Best effort: the thread works without them. */
export async function greetAssistantThread(
  event: unknown,
  workspace: Workspace,
  people: People,
  log: Log,
): Promise<void> {
  const started = assistantStarted.safeParse(event);
  if (!started.success) return;
  const { channel_id, thread_ts, user_id } = started.data.assistant_thread;
  try {
    const { locale } = await people.find(workspace, user_id);
    await workspace.api.call(anyAnswer, 'assistant.threads.setSuggestedPrompts', {
      channel_id,
      thread_ts,
      prompts: messagesFor(locale).adapter.prompts,
    });
  } catch (error) {
    log.debug({ reason: errorMessage(error) }, 'Slack: no suggested prompts');
  }
}
