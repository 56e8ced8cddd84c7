import { describe, expect, it } from 'vitest';
import { parseArguments, repairName, repairReply } from '../../../../src/agent/repair.ts';
import type { ModelReply, ToolCall } from '../../../../src/model/model-client.ts';

const reply = (...toolCalls: ToolCall[]): ModelReply => ({
  text: '',
  toolCalls,
  finishReason: 'tool_calls',
  usage: { inputTokens: 0, outputTokens: 0 },
  model: 'm',
});

describe('repairing what a model sends', () => {
  it.each([
    ['read_file', 'read_file'],
    ['functions.read_file', 'read_file'],
    ['Read-File', 'read_file'],
    ['readfile', 'read_file'],
    ['read_fil', 'read_file'],
    ['delete_everything', null],
  ])('takes %s for %s', (name, expected) => {
    expect(repairName(name, ['read_file', 'write_file', 'terminal'])).toBe(expected);
  });

  it('guesses nothing where two tools are equally near', () => {
    expect(repairName('read_fi', ['read_f1', 'read_f2'])).toBeNull();
  });

  it.each([
    ['{"a":1}', { a: 1 }],
    ['', {}],
    ['{"a":', null],
    ['[1]', null],
    ['"x"', null],
  ])('reads the arguments %s', (text, expected) => {
    expect(parseArguments(text)).toEqual(expected);
  });

  it('collapses identical calls of one batch', () => {
    const fixed = repairReply(
      reply({ id: 'a', name: 'run', arguments: '{}' }, { id: 'b', name: 'run', arguments: '{}' }),
      ['run'],
      new Set(),
    );
    expect(fixed.toolCalls.map((call) => call.id)).toEqual(['a']);
  });

  it('gives a new id to a call whose id is missing or was used before in the session', () => {
    const fixed = repairReply(
      reply({ id: 'call_0', name: 'run', arguments: '{}' }, { id: '', name: 'run', arguments: '{"a":1}' }),
      ['run'],
      new Set(['call_0']),
    );
    const ids = fixed.toolCalls.map((call) => call.id);
    expect(new Set(ids).size).toBe(2);
    for (const id of ids) expect(id).toMatch(/^call_[0-9a-f]{12}$/);
  });
});
