import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import type { ApprovalSubject } from '../../../src/approvals/subject.ts';
import { GatewayError } from '../../../src/errors.ts';
import { rememberSecret } from '../../../src/redact.ts';
import { handleFunctionCall } from '../../../tools/dispatch.ts';
import { isAlive } from '../../../tools/environments/process-tree.ts';
import type { ToolContext } from '../../../tools/tool.ts';
import '../../../tools/terminal.ts';
import { createWorkbench, fields, type Workbench } from './support/context.ts';

const terminal = async (
  bench: Workbench,
  args: Record<string, unknown>,
  context: Partial<ToolContext> = {},
) => fields(await handleFunctionCall('terminal', args, bench.context(context)));

test('a command gives its output in order, and its exit code', async () => {
  const bench = await createWorkbench();
  expect(await terminal(bench, { command: 'echo one; echo two >&2; echo three; exit 3' })).toEqual({
    output: 'one\ntwo\nthree\n',
    exit_code: 3,
    error: null,
  });
});

test('a program may open /dev/stderr and /dev/stdout again', async () => {
  const bench = await createWorkbench();
  const result = await terminal(bench, { command: 'echo a >/dev/stderr; echo b >/dev/stdout' });
  expect(result['output']).toBe('a\nb\n');
});

test('folder and exports last from call to call', async () => {
  const bench = await createWorkbench();
  await terminal(bench, { command: 'mkdir sub; cd sub; export NAME=value' });
  expect((await terminal(bench, { command: 'echo "$NAME $PWD"' }))['output']).toBe(
    `value ${join(bench.work, 'sub')}\n`,
  );
});

test('an approval is asked about the command as it would run', async () => {
  const bench = await createWorkbench();
  const subjects: ApprovalSubject[] = [];
  const approve: ToolContext['approve'] = async (subject) => {
    subjects.push(subject);
    return { approved: false, status: 'blocked', message: 'no, says Ann' };
  };
  const result = await terminal(bench, { command: 'touch ran', workdir: '/tmp' }, { approve });
  expect(result).toEqual({ output: '', exit_code: -1, error: 'no, says Ann', status: 'blocked' });
  expect(subjects).toEqual([
    {
      kind: 'command',
      command: 'touch ran',
      cwd: '/tmp',
      home: bench.user,
      backend: 'local',
      isolated: false,
    },
  ]);
  expect(await bench.environment.files.stat(join(bench.work, 'ran'))).toBeNull();
});

test('a call that is refused anyway asks nobody', async () => {
  const bench = await createWorkbench();
  const approve = vi.fn(async () => ({ approved: true }) as const);
  await terminal(bench, { command: 'sleep 100 &' }, { approve });
  expect(approve).not.toHaveBeenCalled();
});

test('a timeout is told in the output, with 124', async () => {
  const bench = await createWorkbench();
  expect(await terminal(bench, { command: 'echo begun; sleep 30', timeout: 1 })).toEqual({
    output: 'begun\n\n[Command timed out after 1s]',
    exit_code: 124,
    error: null,
  });
});

test('a timeout above the maximum names both and the way out', async () => {
  const bench = await createWorkbench();
  const result = await terminal(bench, { command: 'true', timeout: 601 });
  expect(result['error']).toMatch(/601 s .*600 s.*background=true/);
});

test('a command that is no text is an error', async () => {
  const bench = await createWorkbench();
  expect((await terminal(bench, { command: ['ls'] }))['error']).toContain('must be text');
});

test('a workdir with a foreign character is blocked, naming it', async () => {
  const bench = await createWorkbench();
  expect(await terminal(bench, { command: 'pwd', workdir: '/tmp; ls' })).toMatchObject({
    status: 'blocked',
    error: expect.stringContaining('";"'),
  });
});

test('a workdir that does not exist is a clear error', async () => {
  const bench = await createWorkbench();
  expect(await terminal(bench, { command: 'pwd', workdir: 'missing' })).toMatchObject({
    exit_code: -1,
    error: expect.stringContaining(`${bench.work}/missing does not exist`),
  });
  await mkdir(join(bench.work, 'with space'));
  expect((await terminal(bench, { command: 'pwd', workdir: 'with space' }))['output']).toBe(
    `${bench.work}/with space\n`,
  );
});

test('stopping the gateway from inside is refused', async () => {
  const bench = await createWorkbench();
  const result = await terminal(bench, { command: 'systemctl --user restart hermes-gateway.service' });
  expect(result).toMatchObject({ status: 'blocked', error: expect.stringContaining('gateway') });
});

test.each([
  ['grep absent /dev/null', 1, 'no match found'],
  ['diff /dev/null /etc/passwd >/dev/null', 1, 'differ'],
  ['test -e /absent', 1, 'condition is false'],
  ['cd /; surely-not-a-program', 127, 'not found'],
])('the exit code of %j is explained', async (command, code, meaning) => {
  const bench = await createWorkbench();
  const result = await terminal(bench, { command });
  expect(result).toMatchObject({ exit_code: code, error: null });
  expect(result['exit_code_meaning']).toContain(meaning);
});

test('secrets in the output are redacted', async () => {
  const bench = await createWorkbench();
  rememberSecret('very-private-words');
  const result = await terminal(bench, { command: 'echo a very-private-words b' });
  expect(result['output']).toBe('a [redacted] b\n');
});

test('a place that cannot be reached is degraded, with a hint', async () => {
  const bench = await createWorkbench();
  const environment = () =>
    Promise.reject(new GatewayError('environment_unavailable', 'The engine sleeps.', { mend: 'Wake it.' }));
  const result = fields(
    await handleFunctionCall('terminal', { command: 'true' }, bench.context({ environment })),
  );
  expect(result['error']).toContain('The engine sleeps.');
});

test('an interruption leaves nothing running', async () => {
  const bench = await createWorkbench();
  const stop = new AbortController();
  const running = terminal(bench, { command: 'echo $$ >pid; sleep 60' }, { signal: stop.signal });
  const pid = () => readFile(join(bench.work, 'pid'), 'utf8').catch(() => '');
  await vi.waitUntil(async () => (await pid()) !== '');
  stop.abort();
  await running;
  await vi.waitUntil(async () => !isAlive(Number(await pid())));
});
