import { expect, test, vi } from 'vitest';
import { runToolCall } from '../../../tools/dispatch.ts';
import { registry } from '../../../tools/registry.ts';
import type { AgentState } from '../../../tools/tool.ts';
import '../../../tools/clarify.ts';
import '../../../tools/session-search.ts';
import { createWorkbench, fields } from './support/context.ts';

test('session_search gives the hits with their time, secrets redacted', async () => {
  const bench = await createWorkbench();
  const searchSessions = vi.fn(async () => [
    { sessionId: 's1', title: 'Deploy', role: 'user', at: 0, snippet: `key sk-${'a'.repeat(30)}` },
  ]);
  const agent: AgentState = {
    todos: { read: async () => [], write: async () => undefined },
    searchSessions,
    memoryFolder: '',
  };
  const { result } = await runToolCall(
    'session_search',
    { query: ' deploy ', role_filter: 'user, tool', limit: '99' },
    bench.context({ agent }),
  );
  expect(searchSessions).toHaveBeenCalledWith('deploy', { limit: 20, roles: ['user', 'tool'] });
  expect(fields(result)).toEqual({
    success: true,
    query: 'deploy',
    count: 1,
    results: [
      {
        session_id: 's1',
        title: 'Deploy',
        role: 'user',
        when: '1970-01-01T00:00:00.000Z',
        snippet: 'key [redacted]',
      },
    ],
  });
});

test('clarify asks a question with at most four choices, objects flattened', () => {
  const choices = [
    'red',
    { label: 'green' },
    { title: 'blue', id: 3 },
    'red',
    ' ',
    { description: 'pink' },
    'grey',
  ];
  expect(registry.get('clarify')?.question({ question: ' Which? ', choices })).toEqual({
    question: 'Which?',
    choices: ['red', 'green', 'blue', 'pink'],
  });
  expect(registry.get('clarify')?.question({ question: 'Why?' })).toEqual({ question: 'Why?', choices: [] });
});

test('clarify without anybody to ask is an error that says so', async () => {
  const bench = await createWorkbench();
  const { result } = await runToolCall('clarify', { question: 'Which?' }, bench.context());
  expect(fields(result)['error']).toContain('cannot be used in this context');
});
