import { z } from 'zod';
import { registry } from './registry.ts';
import { cutText, toolError, toolResult } from './results.ts';
import type { Todo, ToolContext } from './tool.ts';

const maxItems = 256;
const maxContentChars = 4_000;
const statuses = ['pending', 'in_progress', 'completed', 'cancelled'] as const;

const item = z.object({
  id: z.string().min(1).describe('A short name of your choice'),
  content: z.string().optional().describe('What is to be done'),
  status: z.enum(statuses).optional(),
});

const args = z.object({
  todos: z.array(item).optional().describe('The list to write; leave it out to read the list'),
  merge: z
    .boolean()
    .default(false)
    .describe('true: change items by id and add new ones; false: replace the list'),
});

async function todo({ todos, merge }: z.infer<typeof args>, { agent }: ToolContext): Promise<string> {
  if (!agent) return toolError('todo must be handled by the agent loop');
  const before = await agent.todos.read();
  if (!todos) return show(before);
  const after = combine(merge ? before : [], todos);
  if (after.length > maxItems)
    return toolError(`A list has at most ${maxItems} items. Drop what is finished.`);
  await agent.todos.write(after);
  return show(after);
}

/** By id: the last one wins, the first one's place is kept. */
function combine(base: readonly Todo[], changes: readonly z.infer<typeof item>[]): Todo[] {
  const list = new Map(base.map((each) => [each.id, each]));
  for (const { id, content, status } of changes) {
    const old = list.get(id);
    list.set(id, {
      id,
      content: cutText(content ?? old?.content ?? id, maxContentChars),
      status: status ?? old?.status ?? 'pending',
    });
  }
  return [...list.values()];
}

function show(todos: readonly Todo[]): string {
  const counts = statuses.map((status) => [status, todos.filter((each) => each.status === status).length]);
  return toolResult({ todos, summary: { total: todos.length, ...Object.fromEntries(counts) } });
}

registry.register({
  name: 'todo',
  toolset: 'todo',
  emoji: '📋',
  schema: {
    description:
      'Keeps the task list of this session. Use it for work of three steps or more: one item in progress at a time, marked completed as soon as it is done. Without todos it shows the list.',
    parameters: args,
  },
  handler: todo,
  agentLoop: true,
  idempotent: true,
  preview: ({ todos }) => (todos ? `${todos.length} items` : 'read'),
});
