import type { ToolCall } from '../model/model-client.ts';
import type { Entry } from '../store/entries.ts';

/** What the transcript says is to be done next. It is the only state of a turn. */
export type NextStep =
  | { kind: 'ask_model' }
  /** Calls of the last assistant message that have no result yet, in its order. */
  | { kind: 'run_tools'; calls: readonly ToolCall[] }
  | { kind: 'rest' };

/**
 * Derives the next step from the transcript alone, so that resuming after a crash, an approval or a deploy is the
 * same as going on.
 */
export function nextStep(entries: readonly Entry[]): NextStep {
  const lastAssistant = entries.findLastIndex((entry) => entry.kind === 'assistant');
  const after = entries.slice(lastAssistant + 1);
  const assistant = entries[lastAssistant];
  if (assistant?.kind === 'assistant') {
    const answered = new Set(after.flatMap((entry) => (entry.kind === 'tool' ? [entry.callId] : [])));
    const open = assistant.toolCalls.filter((call) => !answered.has(call.id));
    if (open.length > 0) return { kind: 'run_tools', calls: open };
  }
  return after.length > 0 ? { kind: 'ask_model' } : { kind: 'rest' };
}

/** Model calls made since the last thing that a person said: what the iteration budget counts. */
export function iterationsUsed(entries: readonly Entry[]): number {
  const lastUser = entries.findLastIndex((entry) => entry.kind === 'user');
  return entries.slice(lastUser + 1).filter((entry) => entry.kind === 'assistant').length;
}
