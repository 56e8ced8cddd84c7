import { z } from 'zod';
import { changeEntries, type MemoryTarget, sizeOf } from './memories/memory-file.ts';
import { findInjection } from './memories/scan.ts';
import { registry } from './registry.ts';
import { cutText, toolError, toolResult } from './results.ts';
import type { ToolContext } from './tool.ts';

const operation = z.object({
  action: z.enum(['add', 'replace', 'remove']),
  content: z.string().optional().describe('add, replace: the new entry, short and self-contained'),
  old_text: z.string().optional().describe('replace, remove: a short text that only the meant entry holds'),
});
type Operation = z.infer<typeof operation>;

const args = z.object({
  ...operation.partial({ action: true }).shape,
  target: z
    .enum(['memory', 'user'])
    .default('memory')
    .describe('memory: notes about the work; user: about the person'),
  operations: z.array(operation).optional().describe('Several changes at once, all or none'),
});

async function memory(asked: z.infer<typeof args>, { agent, config }: ToolContext): Promise<string> {
  const { target } = asked;
  if (!agent || !config.memory.enabled)
    return toolError('Memory is off in this configuration: nothing was kept.');
  if (target === 'user' && !config.memory.userProfileEnabled) {
    return toolError('The user profile is off in this configuration: nothing was kept.');
  }
  const operations = operationsOf(asked);
  if (operations === null) return toolError('action is missing: add, replace or remove.');
  const limit = target === 'user' ? config.memory.userChars : config.memory.memoryChars;
  let outcome: Outcome = { error: 'nothing was changed', entries: [] };
  await changeEntries(agent.memoryFolder, target, (entries) => {
    outcome = applyAll(entries, operations, limit);
    return 'error' in outcome ? null : outcome.entries;
  });
  return show(target, limit, outcome);
}

type Outcome = { entries: readonly string[] } | { error: string; entries: readonly string[] };

function operationsOf({
  action,
  content,
  old_text,
  operations,
}: z.infer<typeof args>): readonly Operation[] | null {
  if (operations && operations.length > 0) return operations;
  return action ? [{ action, content, old_text }] : null;
}

/** Applies the operations in order; the first that fails undoes all. */
function applyAll(before: readonly string[], operations: readonly Operation[], limit: number): Outcome {
  let entries = before;
  for (const each of operations) {
    const outcome = apply(entries, each);
    if ('error' in outcome) return { error: outcome.error, entries: before };
    entries = outcome.entries;
  }
  const size = sizeOf(entries);
  if (size > limit && size > sizeOf(before)) {
    const error = `That would take ${size} of ${limit} characters. Shorten or remove entries first, or replace several by one.`;
    return { error, entries: before };
  }
  return { entries };
}

function apply(entries: readonly string[], { action, content, old_text: oldText }: Operation): Outcome {
  const fail = (error: string): Outcome => ({ error, entries });
  const text = content?.trim() ?? '';
  if (action !== 'remove') {
    if (text === '') return fail(`content is missing: ${action} needs the new entry.`);
    if (/^§\s*$/m.test(text)) return fail('An entry cannot hold a line with only §: it separates entries.');
    const injection = findInjection(text);
    if (injection !== null) return fail(`The entry was refused: it looks like ${injection}.`);
  }
  if (action === 'add') return { entries: entries.includes(text) ? entries : [...entries, text] };
  if (!oldText) return fail(`old_text is missing: ${action} needs a short text of the entry that is meant.`);
  const meant = entries.filter((entry) => entry.includes(oldText));
  const [entry, second] = meant;
  if (entry === undefined) return fail(`No entry holds "${cutText(oldText, 80)}".`);
  if (second !== undefined) {
    const previews = meant.map((each) => `"${cutText(each, 60)}"`).join(', ');
    return fail(`${meant.length} entries hold that text: ${previews}. Give a text that only one holds.`);
  }
  return { entries: entries.flatMap((each) => (each !== entry ? each : action === 'remove' ? [] : text)) };
}

function show(target: MemoryTarget, limit: number, outcome: Outcome): string {
  const state = { target, entries: outcome.entries, usage: `${sizeOf(outcome.entries)}/${limit} characters` };
  if ('error' in outcome) return toolError(outcome.error, { success: false, ...state });
  return toolResult({ success: true, ...state, note: 'Saved. It shows in the prompt of the next session.' });
}

registry.register({
  name: 'memory',
  toolset: 'memory',
  emoji: '🧠',
  schema: {
    description:
      'Keeps short facts across sessions: preferences and corrections of the user (target "user"), and what you learned about the environment or the project (target "memory"). Do not keep what is only about this task, and no secrets.',
    parameters: args,
  },
  handler: memory,
  agentLoop: true,
  preview: ({ action, content, old_text }) => `${action ?? 'change'} ${content ?? old_text ?? ''}`,
});
