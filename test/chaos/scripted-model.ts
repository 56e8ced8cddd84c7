import { z } from 'zod';
import { textOf } from '../emulators/openai/instant.ts';
import type { ChatRequest, ScriptedReply } from '../emulators/openai/reply.ts';

/** How a message ended, as its answer tells. */
export const endings = ['talked', 'ran', 'denied', 'expired', 'unseen', 'unknown', 'failed'] as const;
export type Ending = (typeof endings)[number];

/** Not shell input: the id is the plan's own, letters and digits. */
const commands = {
  append: (id: string) => `sleep 0.05 && printf '%s\\n' ${id} >> ledger`,
  remove: (id: string) => `printf '%s\\n' ${id} >> ledger && rm -rf ./scratch-${id}`,
} as const;

/** Whether a text holds the command that a message made the model ask for; no id begins another here. */
export function asksFor(text: string, id: string): boolean {
  return new RegExp(`scratch-${id}(?!\\d)`).test(text);
}

const toolResult = z.object({
  exit_code: z.number().optional(),
  status: z.string().optional(),
  error: z.string().nullish(),
});

/** A model without memory: what it says follows from the conversation alone, as the loop's next step does. */
export function scriptedReply({ messages }: ChatRequest): ScriptedReply {
  const asked = messages.findLastIndex(({ role, content }) => role === 'user' && wishOf(content) !== null);
  const wish = wishOf(messages[asked]?.content);
  if (wish === null) return { text: 'nothing was asked' };
  const { id, deed } = wish;
  const result = messages.slice(asked + 1).findLast(({ role }) => role === 'tool');
  if (result !== undefined) return { text: `${id}: ${endingOf(textOf(result.content))}` };
  if (deed === 'talk') return { text: `${id}: talked` };
  return { toolCalls: [{ name: 'terminal', arguments: JSON.stringify({ command: commands[deed](id) }) }] };
}

function wishOf(content: unknown): { id: string; deed: 'talk' | 'append' | 'remove' } | null {
  const [, id, deed] = /\b(m\d+x\d+) (talk|append|remove)\b/.exec(textOf(content)) ?? [];
  if (id === undefined) return null;
  return { id, deed: deed === 'append' || deed === 'remove' ? deed : 'talk' };
}

function endingOf(content: string): Ending {
  const parsed = toolResult.safeParse(readJson(content));
  if (!parsed.success) return 'failed';
  const { exit_code: exitCode, status, error } = parsed.data;
  if (status === 'interrupted') return 'unknown';
  if (error?.includes('could not be shown')) return 'unseen';
  if (error?.includes('denied by')) return 'denied';
  if (error?.includes('nobody decided in time')) return 'expired';
  return exitCode === 0 ? 'ran' : 'failed';
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The gateway may add words of its own to a result; the checks then say "failed" with the id.
    return null;
  }
}
