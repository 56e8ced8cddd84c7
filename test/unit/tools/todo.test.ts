import { expect, test } from 'vitest';
import { runToolCall } from '../../../tools/dispatch.ts';
import type { AgentState, Todo } from '../../../tools/tool.ts';
import '../../../tools/todo.ts';
import { createWorkbench, fields } from './support/context.ts';

async function setUp() {
  const bench = await createWorkbench();
  let kept: readonly Todo[] = [];
  const agent: AgentState = {
    todos: {
      read: async () => kept,
      write: async (todos) => {
        kept = todos;
      },
    },
    searchSessions: async () => [],
    memoryFolder: '',
  };
  const todo = async (args: Record<string, unknown>) =>
    fields((await runToolCall('todo', args, bench.context({ agent }))).result);
  return { todo, kept: () => kept };
}

const item = (id: string, status: string, content = id) => ({ id, content, status });

test('writing replaces the list, reading gives it with its summary', async () => {
  const { todo } = await setUp();
  await todo({ todos: [item('old', 'pending')] });
  await todo({ todos: [item('a', 'completed'), item('b', 'in_progress')] });
  expect(await todo({})).toEqual({
    todos: [item('a', 'completed'), item('b', 'in_progress')],
    summary: { total: 2, pending: 0, in_progress: 1, completed: 1, cancelled: 0 },
  });
});

test('merging changes by id and appends what is new', async () => {
  const { todo, kept } = await setUp();
  await todo({ todos: [item('a', 'pending', 'first'), item('b', 'pending')] });
  await todo({
    merge: true,
    todos: [
      { id: 'a', status: 'completed' },
      { id: 'c', content: 'third' },
    ],
  });
  expect(kept()).toEqual([
    item('a', 'completed', 'first'),
    item('b', 'pending'),
    item('c', 'pending', 'third'),
  ]);
});

test('of two items with one id the last wins at the first one’s place', async () => {
  const { todo, kept } = await setUp();
  await todo({ todos: [item('a', 'pending'), item('b', 'pending'), item('a', 'completed', 'again')] });
  expect(kept()).toEqual([item('a', 'completed', 'again'), item('b', 'pending')]);
});

test('an unknown status, and more than 256 items, change nothing', async () => {
  const { todo, kept } = await setUp();
  expect((await todo({ todos: [item('a', 'done')] }))['error']).toContain('todos.0.status');
  const many = Array.from({ length: 257 }, (_, index) => item(String(index), 'pending'));
  expect((await todo({ todos: many }))['error']).toContain('256');
  expect(kept()).toEqual([]);
});
