import { expect, test, vi } from 'vitest';
import { z } from 'zod';
import type { Approval, ApprovalSubject } from '../../../src/approvals/subject.ts';
import { silentLog } from '../../../src/log.ts';
import { handleFunctionCall, runToolCall } from '../../../tools/dispatch.ts';
import { noHooks, type ToolCallReport, type ToolHooks } from '../../../tools/hooks.ts';
import { createRegistry, type Registry } from '../../../tools/registry.ts';
import type { JsonToolOptions, ToolContext } from '../../../tools/tool.ts';
import { createWorkbench, fields } from './support/context.ts';
import { recordingLog } from './support/log.ts';

function registryWith(changes: Partial<JsonToolOptions> = {}): Registry {
  const registry = createRegistry({ log: silentLog });
  registry.register({
    name: 'echo',
    toolset: 'test',
    schema: { description: 'Echoes', parameters: { type: 'object', properties: { n: { type: 'integer' } } } },
    handler: (args) => JSON.stringify({ args }),
    ...changes,
  });
  return registry;
}

const hooksWith = (changes: Partial<ToolHooks>): ToolHooks => ({ ...noHooks, ...changes });
const workbench = await createWorkbench();
const contextWith = (changes: Partial<ToolContext> = {}) => workbench.context(changes);
const refuse = (approval: Approval) => ({ approve: vi.fn(async (_subject: ApprovalSubject) => approval) });
const denied: Approval = { approved: false, status: 'blocked', message: 'Ann said no.' };

test('arguments are coerced by the schema, and what is no object becomes none', async () => {
  const registry = registryWith();
  expect(fields(await handleFunctionCall('echo', { n: '4' }, contextWith(), { registry }))).toEqual({
    args: { n: 4 },
  });
  expect(fields(await handleFunctionCall('echo', 'text', contextWith(), { registry }))).toEqual({ args: {} });
});

test.each(['todo', 'memory', 'session_search', 'delegate_task'])(
  '%s answers with the stub error',
  async (name) => {
    const registry = createRegistry({ log: silentLog });
    const result = await handleFunctionCall(name, {}, contextWith(), { registry });
    expect(result).toBe(`{"error":"${name} must be handled by the agent loop"}`);
  },
);

test('the agent loop runs its own tools through the same path', async () => {
  const registry = registryWith({ agentLoop: true });
  expect(await handleFunctionCall('echo', {}, contextWith(), { registry })).toContain(
    'must be handled by the agent loop',
  );
  const outcome = await runToolCall('echo', { n: 1 }, contextWith(), { registry });
  expect(outcome).toMatchObject({ result: '{"args":{"n":1}}', status: 'ok' });
});

test('an unknown tool and a throwing handler give the exact errors of the registry', async () => {
  const registry = registryWith({
    handler: () => {
      throw new TypeError('x');
    },
  });
  expect(await handleFunctionCall('nope', {}, contextWith(), { registry })).toBe(
    '{"error":"Unknown tool: nope"}',
  );
  expect(await handleFunctionCall('echo', {}, contextWith(), { registry })).toBe(
    '{"error":"Tool execution failed: TypeError: x"}',
  );
});

test('a failure outside of the handler gives the exact outer error', async () => {
  const handler = vi.fn(() => '{}');
  const registry = registryWith({
    handler,
    subject: async () => {
      throw new Error('no idea');
    },
  });
  const result = await handleFunctionCall('echo', {}, contextWith(), { registry });
  expect(result).toBe('{"error":"Error executing echo: no idea"}');
  expect(handler).not.toHaveBeenCalled();
});

test('invalid arguments are told before anybody is asked', async () => {
  const registry = createRegistry({ log: silentLog });
  const subject = vi.fn(async () => null);
  registry.register({
    name: 'typed',
    toolset: 'test',
    schema: { description: 'Typed', parameters: z.object({ n: z.number() }) },
    handler: () => '{}',
    subject,
  });
  const result = fields(await handleFunctionCall('typed', {}, contextWith(), { registry }));
  expect(result['error']).toMatch(/^Invalid arguments for typed: n: /);
  expect(subject).not.toHaveBeenCalled();
});

test('a hook that blocks keeps the handler from running, and observers hear of it', async () => {
  const handler = vi.fn(() => '{}');
  const reports: ToolCallReport[] = [];
  const hooks = hooksWith({
    preToolCall: [
      () => ({ action: 'ask', key: 'k', reason: 'r' }),
      () => ({ action: 'block', message: 'not here' }),
    ],
    postToolCall: [(report) => void reports.push(report)],
  });
  const context = contextWith(refuse({ approved: true }));
  const outcome = await runToolCall('echo', {}, context, { registry: registryWith({ handler }), hooks });
  expect(outcome).toMatchObject({ result: '{"error":"not here"}', status: 'blocked' });
  expect(handler).not.toHaveBeenCalled();
  expect(context.approve).not.toHaveBeenCalled();
  expect(reports).toMatchObject([
    { toolName: 'echo', toolCallId: 'call-1', status: 'blocked', errorMessage: 'not here' },
  ]);
});

test('a hook that asks puts its rule to a human, whose refusal is the result', async () => {
  const handler = vi.fn(() => '{}');
  const hooks = hooksWith({ preToolCall: [() => ({ action: 'ask', key: 'big', reason: 'It is big.' })] });
  const context = contextWith(refuse(denied));
  const result = await handleFunctionCall('echo', {}, context, {
    registry: registryWith({ handler }),
    hooks,
  });
  expect(fields(result)).toEqual({ error: 'Ann said no.', status: 'blocked' });
  expect(context.approve).toHaveBeenCalledWith({
    kind: 'rule',
    key: 'plugin_rule:big',
    tool: 'echo',
    reason: 'It is big.',
  });
  expect(handler).not.toHaveBeenCalled();
});

test('a hook that throws is logged and ignored', async () => {
  const { log, lines } = recordingLog();
  const hooks = hooksWith({
    preToolCall: [
      () => {
        throw new Error('broken plugin');
      },
    ],
    postToolCall: [
      async () => {
        throw new Error('broken observer');
      },
    ],
    transformToolResult: [
      () => {
        throw new Error('broken transform');
      },
    ],
  });
  const result = await handleFunctionCall('echo', {}, contextWith({ log }), {
    registry: registryWith(),
    hooks,
  });
  expect(result).toBe('{"args":{}}');
  expect(lines.join('')).toMatch(/broken plugin[\s\S]*broken observer[\s\S]*broken transform/);
});

test('a hook that does not answer blocks the call', async () => {
  const handler = vi.fn(() => '{}');
  const hooks = hooksWith({ preToolCall: [() => new Promise(() => undefined)], timeoutMs: 5 });
  const outcome = await runToolCall('echo', {}, contextWith(), {
    registry: registryWith({ handler }),
    hooks,
  });
  expect(outcome.status).toBe('blocked');
  expect(handler).not.toHaveBeenCalled();
});

test('observers hear of each call once, with what it was and how it ended', async () => {
  const reports: ToolCallReport[] = [];
  const hooks = hooksWith({ postToolCall: [(report) => void reports.push(report)] });
  await handleFunctionCall('echo', { n: 1 }, contextWith(), { registry: registryWith(), hooks });
  const failing = registryWith({
    handler: () => {
      throw new RangeError('far');
    },
  });
  await handleFunctionCall('echo', {}, contextWith(), { registry: failing, hooks });
  const own = registryWith({ handler: () => '{"output":"","exit_code":0,"error":null}' });
  await handleFunctionCall('echo', {}, contextWith(), { registry: own, hooks });
  expect(reports).toMatchObject([
    { args: { n: 1 }, taskId: 'task', status: 'ok', errorType: null },
    { status: 'error', errorType: 'RangeError', errorMessage: 'Tool execution failed: RangeError: far' },
    { status: 'ok' },
  ]);
});

test('the first transform that gives text replaces the result', async () => {
  const hooks = hooksWith({ transformToolResult: [() => undefined, () => 'second', () => 'third'] });
  expect(await handleFunctionCall('echo', {}, contextWith(), { registry: registryWith(), hooks })).toBe(
    'second',
  );
});

test('a command that is not approved does not run and says so as a command does', async () => {
  const handler = vi.fn(() => '{}');
  const subject = {
    kind: 'command',
    command: 'rm -r x',
    cwd: '/',
    home: '/',
    backend: 'local',
    isolated: false,
  } as const;
  const registry = registryWith({ handler, subject: async () => subject });
  const context = contextWith(refuse(denied));
  const outcome = await runToolCall('echo', {}, context, { registry });
  expect(outcome).toMatchObject({
    result: '{"output":"","exit_code":-1,"error":"Ann said no.","status":"blocked"}',
    status: 'blocked',
  });
  expect(context.approve).toHaveBeenCalledWith(subject);
  expect(handler).not.toHaveBeenCalled();
});

test('who approved stands in the result', async () => {
  const registry = registryWith({
    handler: () => '{"output":"done"}',
    subject: async () => ({ kind: 'write', path: '/x', reason: 'r' }),
  });
  const context = contextWith(refuse({ approved: true, note: 'approved by Ann' }));
  const result = await handleFunctionCall('echo', {}, context, { registry });
  expect(fields(result)).toEqual({ output: 'done', approval: 'approved by Ann' });
});

test('a handler that takes too long is told to stop, and its clean-up is its result', async () => {
  const handler: JsonToolOptions['handler'] = (_args, { signal }) =>
    new Promise((resolve) => signal.addEventListener('abort', () => resolve('{"stopped":true}')));
  const result = await handleFunctionCall('echo', {}, contextWith(), {
    registry: registryWith({ handler }),
    handlerTimeoutMs: 5,
  });
  expect(result).toBe('{"stopped":true}');
});

test('a handler that ignores the stop is left behind with an error that says so', async () => {
  vi.useFakeTimers();
  try {
    const registry = registryWith({ handler: () => new Promise(() => undefined) });
    const result = handleFunctionCall('echo', {}, contextWith(), { registry });
    await vi.advanceTimersByTimeAsync(305_000);
    expect(await result).toMatch(
      /^\{"error":"Tool execution failed: ToolTimeout: echo did not finish within 300 s/,
    );
  } finally {
    vi.useRealTimers();
  }
});

test('an interrupt reaches the handler by its signal', async () => {
  const interrupt = new AbortController();
  const handler: JsonToolOptions['handler'] = (_args, { signal }) => {
    interrupt.abort();
    return signal.aborted ? '{"interrupted":true}' : '{}';
  };
  const context = contextWith({ signal: interrupt.signal });
  expect(await handleFunctionCall('echo', {}, context, { registry: registryWith({ handler }) })).toBe(
    '{"interrupted":true}',
  );
});
