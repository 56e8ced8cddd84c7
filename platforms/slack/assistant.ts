import { errorMessage } from '../../src/errors.ts';
import type { Log } from '../../src/log.ts';
import { anyAnswer } from './api.ts';
import { assistantStarted } from './wire.ts';
import type { Workspace } from './workspaces.ts';

/** Offered to whoever opens the assistant panel: what a first message could be. At most four. */
export const suggestedPrompts: readonly { title: string; message: string }[] = [
  { title: 'What can you do?', message: 'What can you do, and which tools do you have here?' },
  { title: 'Catch me up', message: 'What is the state of your current work and what waits for me?' },
  { title: 'Remind me', message: 'Remind me tomorrow at 9:00 to ' },
];

/** Greets a new assistant thread with prompts. Best effort: the thread works without them. */
export async function greetAssistantThread(event: unknown, workspace: Workspace, log: Log): Promise<void> {
  const started = assistantStarted.safeParse(event);
  if (!started.success) return;
  const { channel_id, thread_ts } = started.data.assistant_thread;
  try {
    await workspace.api.call(anyAnswer, 'assistant.threads.setSuggestedPrompts', {
      channel_id,
      thread_ts,
      prompts: suggestedPrompts,
    });
  } catch (error) {
    log.debug({ reason: errorMessage(error) }, 'Slack: no suggested prompts');
  }
}
