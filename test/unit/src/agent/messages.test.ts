import { describe, expect, it } from 'vitest';
import { toMessages } from '../../../../src/agent/messages.ts';
import type { Entry, EntryBody } from '../../../../src/store/entries.ts';

const entries = (...bodies: EntryBody[]): Entry[] =>
  bodies.map((body, id) => ({ ...body, id, sessionId: 's', at: 0 }));

describe('the messages for the model', () => {
  it('puts each result right after the message that asked for it', () => {
    const call = { id: 'a', name: 'run', arguments: '{}' };
    const messages = toMessages(
      'sys',
      entries(
        { kind: 'user', text: 'hi' },
        { kind: 'assistant', text: '', toolCalls: [call], model: 'm' },
        { kind: 'tool', callId: 'a', tool: 'run', content: 'ok' },
        { kind: 'note', text: 'restarted' },
        { kind: 'user', text: 'and?' },
      ),
      100_000,
    );
    expect(messages).toEqual([
      { role: 'system', content: 'sys' },
      { role: 'user', content: 'hi' },
      { role: 'assistant', content: '', toolCalls: [call] },
      { role: 'tool', toolCallId: 'a', content: 'ok' },
      { role: 'user', content: '[restarted]\n\nand?' },
    ]);
  });

  it('never sends two user messages in a row', () => {
    const messages = toMessages(
      'sys',
      entries({ kind: 'user', text: 'a' }, { kind: 'user', text: 'b' }),
      100_000,
    );
    expect(messages.filter((message) => message.role === 'user')).toHaveLength(1);
  });

  it('cuts old tool results before anything else when the window is small', () => {
    const bodies: EntryBody[] = [{ kind: 'user', text: 'start' }];
    for (let index = 0; index < 40; index += 1) {
      bodies.push({
        kind: 'assistant',
        text: '',
        toolCalls: [{ id: `c${index}`, name: 'run', arguments: '{}' }],
        model: 'm',
      });
      bodies.push({ kind: 'tool', callId: `c${index}`, tool: 'run', content: 'x'.repeat(2_000) });
    }
    const messages = toMessages('sys', entries(...bodies), 10_000);
    const results = messages.filter((message) => message.role === 'tool');
    expect(results).toHaveLength(40);
    expect(results[0]?.content).toMatch(/left out/);
    expect(results.at(-1)?.content).toHaveLength(2_000);
  });

  it('drops whole turns from the start when cutting is not enough, and says so', () => {
    const bodies: EntryBody[] = [];
    for (let index = 0; index < 50; index += 1) {
      bodies.push({ kind: 'user', text: `q${index} ${'x'.repeat(2_000)}` });
      bodies.push({ kind: 'assistant', text: `a${index}`, toolCalls: [], model: 'm' });
    }
    const messages = toMessages('sys', entries(...bodies), 5_000);
    expect(JSON.stringify(messages[1])).toMatch(/beginning of this conversation was left out/);
    expect(messages.at(-1)).toMatchObject({ role: 'assistant', content: 'a49' });
    expect(JSON.stringify(messages).length).toBeLessThan(20_000);
  });
});
