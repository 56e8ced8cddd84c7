import { describe, expect, it } from 'vitest';
import { type Concurrency, segments } from '../../../../src/agent/schedule.ts';

const kinds: { readonly [name: string]: Concurrency } = {
  read: 'path',
  write: 'path',
  search: 'parallel',
  terminal: 'sequential',
  clarify: 'exclusive',
};
const plan = (...calls: [string, unknown][]) =>
  segments(
    calls.map(([name, args], index) => ({
      id: String(index),
      name,
      arguments: typeof args === 'string' ? args : JSON.stringify(args),
    })),
    (name) => kinds[name] ?? 'sequential',
  ).map((segment) => segment.map((call) => Number(call.id)));

describe('which calls of a batch run together', () => {
  it('read-only calls do', () => {
    expect(plan(['search', {}], ['search', {}], ['read', { path: 'a' }])).toEqual([[0, 1, 2]]);
  });

  it('calls on different paths do, on equal or nested paths they do not', () => {
    expect(plan(['write', { path: 'a' }], ['write', { path: 'b' }])).toEqual([[0, 1]]);
    expect(plan(['write', { path: 'a' }], ['write', { path: './a' }])).toEqual([[0], [1]]);
    expect(plan(['read', { path: '/x' }], ['write', { path: '/x/y' }])).toEqual([[0], [1]]);
  });

  it('everything else stands alone, and keeps what is around it apart', () => {
    expect(plan(['search', {}], ['terminal', {}], ['search', {}], ['search', {}])).toEqual([
      [0],
      [1],
      [2, 3],
    ]);
  });

  it('a question to the user makes the whole batch sequential', () => {
    expect(plan(['search', {}], ['clarify', {}], ['search', {}])).toEqual([[0], [1], [2]]);
  });

  it('a call whose arguments cannot be read, or that lacks its path, stands alone', () => {
    expect(plan(['search', '{"a":'], ['read', {}], ['search', {}])).toEqual([[0], [1], [2]]);
  });
});
