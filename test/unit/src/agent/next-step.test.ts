import { describe, expect, it } from 'vitest';
import { iterationsUsed, nextStep } from '../../../../src/agent/next-step.ts';
import type { Entry, EntryBody } from '../../../../src/store/entries.ts';

const entries = (...bodies: EntryBody[]): Entry[] =>
  bodies.map((body, id) => ({ ...body, id, sessionId: 's', at: 0 }));
const user: EntryBody = { kind: 'user', text: 'hi' };
const calls = (...ids: string[]): EntryBody => ({
  kind: 'assistant',
  text: '',
  model: 'm',
  toolCalls: ids.map((id) => ({ id, name: 'run', arguments: '{}' })),
});
const result = (callId: string): EntryBody => ({ kind: 'tool', callId, tool: 'run', content: 'ok' });
const answer: EntryBody = { kind: 'assistant', text: 'done', toolCalls: [], model: 'm' };

describe('the next step of a transcript', () => {
  it('asks the model after a user message', () => {
    expect(nextStep(entries(user))).toEqual({ kind: 'ask_model' });
  });

  it('runs the calls that have no result yet, in their order', () => {
    const step = nextStep(entries(user, calls('a', 'b', 'c'), result('b')));
    expect(step).toMatchObject({ kind: 'run_tools', calls: [{ id: 'a' }, { id: 'c' }] });
  });

  it('asks the model once every call has its result', () => {
    expect(nextStep(entries(user, calls('a'), result('a')))).toEqual({ kind: 'ask_model' });
  });

  it('rests after an answer, and on an empty transcript', () => {
    expect(nextStep(entries(user, answer))).toEqual({ kind: 'rest' });
    expect(nextStep([])).toEqual({ kind: 'rest' });
  });

  it('asks the model after a note that follows an answer', () => {
    expect(nextStep(entries(user, answer, { kind: 'note', text: 'restarted' }))).toEqual({
      kind: 'ask_model',
    });
  });

  it('counts the model calls since the last user message', () => {
    expect(
      iterationsUsed(entries(user, answer, user, calls('a'), result('a'), calls('b'), result('b'))),
    ).toBe(2);
  });
});
