import { describe, expect, test } from 'vitest';
import { answerSchema, createAssembler } from '../../../../src/model/wire.ts';

function assemble(...deltas: object[]) {
  const answer = createAssembler(() => undefined);
  for (const delta of deltas) answer.add(answerSchema.parse({ choices: [{ delta }] }));
  return answer.reply('m');
}

const part = (index: number | undefined, id: string | undefined, name: string | undefined, args: string) => ({
  tool_calls: [{ index, id, function: { name, arguments: args } }],
});

describe('tool calls of servers that take liberties', () => {
  test('pieces of two calls may alternate', () => {
    const { toolCalls } = assemble(
      part(0, 'a', 'x', '{'),
      part(1, 'b', 'y', '['),
      part(0, undefined, undefined, '}'),
      part(1, undefined, undefined, ']'),
    );
    expect(toolCalls).toEqual([
      { id: 'a', name: 'x', arguments: '{}' },
      { id: 'b', name: 'y', arguments: '[]' },
    ]);
  });

  test('all calls may have the same index', () => {
    expect(assemble(part(0, 'a', 'x', '{}'), part(0, 'b', 'y', '{}')).toolCalls.map(({ id }) => id)).toEqual([
      'a',
      'b',
    ]);
  });

  test('there may be no index at all', () => {
    const { toolCalls } = assemble(
      part(undefined, 'a', 'x', '{'),
      part(undefined, undefined, undefined, '}'),
      part(undefined, 'b', 'y', '{}'),
    );
    expect(toolCalls.map((call) => call.arguments)).toEqual(['{}', '{}']);
  });

  test('a call without an id gets one', () => {
    expect(assemble(part(0, '', 'x', '{}')).toolCalls[0]?.id).toMatch(/^call_.+/);
  });

  test('a finish reason of stop beside calls means the calls', () => {
    expect(assemble(part(0, 'a', 'x', '{}')).finishReason).toBe('tool_calls');
  });
});
