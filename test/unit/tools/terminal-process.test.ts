import { expect, test, vi } from 'vitest';
import { judgeSubject } from '../../../src/approvals/judge.ts';
import type { ApprovalSubject } from '../../../src/approvals/subject.ts';
import { systemClock } from '../../../src/clock.ts';
import { silentLog } from '../../../src/log.ts';
import { handleFunctionCall } from '../../../tools/dispatch.ts';
import { createProcessTable } from '../../../tools/environments/background-processes.ts';
import type { ProcessNotice } from '../../../tools/environments/process-table.ts';
import '../../../tools/process.ts';
import type { ToolContext } from '../../../tools/tool.ts';
import '../../../tools/terminal.ts';
import { memoryProcessStore } from './environments/memory-process-store.ts';
import { createWorkbench, fields } from './support/context.ts';

async function setUp({
  terminal = { timeoutMs: 180_000, maxForegroundTimeoutMs: 600_000 },
  approve,
}: {
  terminal?: ToolContext['config']['terminal'];
  approve?: ToolContext['approve'];
} = {}) {
  const bench = await createWorkbench();
  const notices: ProcessNotice[] = [];
  const processes = createProcessTable({
    store: memoryProcessStore(),
    notify: async (notice) => {
      notices.push(notice);
    },
    clock: systemClock,
    log: silentLog,
  });
  const config = { ...bench.context().config, terminal };
  const call = async (name: string, args: Record<string, unknown>) =>
    fields(
      await handleFunctionCall(name, args, bench.context({ processes, config, ...(approve && { approve }) })),
    );
  const start = async (command: string, more: Record<string, unknown> = {}) =>
    call('terminal', { command, background: true, ...more });
  const act = (action: string, id?: unknown, more: Record<string, unknown> = {}) =>
    call('process', { action, ...(id !== undefined && { session_id: id }), ...more });
  return { bench, notices, start, act };
}

test('a background command answers at once with its id', async () => {
  const { start, act } = await setUp();
  const started = await start('sleep 60');
  expect(started).toMatchObject({
    output: 'Background process started',
    session_id: expect.stringMatching(/^proc_[0-9a-f]{12}$/),
    pid: expect.any(Number),
    exit_code: 0,
    error: null,
  });
  expect(await act('kill', started['session_id'])).toMatchObject({ status: 'killed', exit_code: -15 });
});

test('list shows what runs, and what ended with its exit code', async () => {
  const { bench, start, act } = await setUp();
  const { session_id: running } = await start('echo up; sleep 60', { watch_patterns: ['never'] });
  const { session_id: ended } = await start('exit 4');
  await act('wait', ended);
  const { processes } = await act('list');
  expect(processes).toMatchObject([
    {
      session_id: running,
      command: 'echo up; sleep 60',
      cwd: bench.work,
      status: 'running',
      watch_patterns: ['never'],
    },
    { session_id: ended, status: 'exited', exit_code: 4 },
  ]);
  await act('kill', running);
});

test('log shows the last lines, or a part from the head, without escape sequences', async () => {
  const { start, act } = await setUp();
  const { session_id: id } = await start("printf '\\033[1m%s\\033[0m\\n' 1 2 3 4 5");
  await act('wait', id);
  expect(await act('log', id, { limit: 2 })).toEqual({
    session_id: id,
    status: 'exited',
    output: '4\n5',
    total_lines: 5,
    showing: '2 lines',
  });
  expect(await act('log', id, { offset: 0, limit: 2 })).toMatchObject({ output: '1\n2' });
});

test('wait gives the exit code, or says that the process goes on', async () => {
  const { start, act } = await setUp();
  const { session_id: id } = await start('read -r line; echo "$line"; exit 7');
  expect(await act('wait', id, { timeout: 0.2 })).toMatchObject({ status: 'timeout', process_running: true });
  expect(await act('submit', id, { data: 'hello' })).toEqual({ status: 'ok', bytes_written: 6 });
  expect(await act('wait', id)).toMatchObject({ status: 'exited', exit_code: 7, output: 'hello\n' });
});

test('wait is clamped to the limit of one call and says so', async () => {
  const { start, act } = await setUp({ terminal: { timeoutMs: 200, maxForegroundTimeoutMs: 600_000 } });
  const { session_id: id } = await start('sleep 60');
  expect(await act('wait', id, { timeout: 900 })).toMatchObject({
    status: 'timeout',
    timeout_note: expect.stringContaining('0.2 s'),
  });
  expect((await act('wait', id, { timeout: 0 }))['error']).toContain('above 0');
  await act('kill', id);
});

test('close ends the input', async () => {
  const { start, act } = await setUp();
  const { session_id: id } = await start('cat; echo over');
  await act('write', id, { data: 'text ' });
  expect(await act('close', id)).toEqual({ status: 'ok' });
  expect(await act('wait', id)).toMatchObject({ exit_code: 0, output: 'text over\n' });
  expect(await act('write', id, { data: 'x' })).toMatchObject({ status: 'already_exited' });
  expect(await act('kill', id)).toMatchObject({ status: 'already_exited', exit_code: 0 });
});

test('a prefix of four characters finds a process, an unknown id is named', async () => {
  const { start, act } = await setUp();
  const { session_id: id } = await start('sleep 60');
  const short = String(id).slice('proc_'.length, 'proc_'.length + 4);
  expect(await act('poll', short)).toMatchObject({ session_id: id, status: 'running' });
  expect(await act('poll', 'proc_000')).toMatchObject({
    status: 'not_found',
    error: expect.stringContaining('proc_000'),
  });
  expect((await act('poll'))['error']).toContain('poll needs session_id');
  expect((await act('explode', id))['error']).toContain('list, poll, log, wait, kill, write, submit, close');
  await act('kill', id);
});

test('a completion is told once, and not when it was waited for', async () => {
  const { notices, start, act } = await setUp();
  const { session_id: waited } = await start('exit 0', { notify_on_complete: true });
  await act('wait', waited);
  const { session_id: told } = await start('echo result; exit 3', { notify_on_complete: true });
  await vi.waitUntil(() => notices.length > 0);
  expect(notices).toMatchObject([{ processId: told, kind: 'completed' }]);
  expect(notices[0]?.text).toMatch(/exit code 3[\s\S]*result/);
});

test('notify_on_complete wins over watch_patterns and says so', async () => {
  const { start, act } = await setUp();
  const started = await start('sleep 60', { notify_on_complete: true, watch_patterns: ['x'] });
  expect(started).toMatchObject({ notify_on_complete: true, watch_patterns_ignored: expect.any(String) });
  await act('kill', started['session_id']);
});

test('a watched text is told while the process goes on', async () => {
  const { notices, start, act } = await setUp();
  const { session_id: id } = await start('echo "server ready on 80"; sleep 60', {
    watch_patterns: ['ready on'],
  });
  await vi.waitUntil(() => notices.length > 0);
  expect(notices).toMatchObject([{ processId: id, kind: 'matched' }]);
  expect(notices[0]?.text).toContain('server ready on 80');
  await act('kill', id);
});

test('a program that reads a secret from its input gets no terminal', async () => {
  const { start, act } = await setUp();
  const { session_id: id, pty_note: note } = await start('cat >/dev/null; : --with-token', { pty: true });
  expect(note).toContain('Pipes are used');
  await act('kill', id);
});

test.each([
  ['in one go', ['rm -rf ../photos\n']],
  ['in pieces', ['rm -rf', ' ../photos\n']],
  ['over two lines', ['rm \\\n', '-rf ../photos\n']],
  ['behind a key that clears the line', ['echo \u0015rm -rf ../photos\r']],
])('what is typed into a process is judged as a command: %s', async (_name, pieces) => {
  const asked: ApprovalSubject[] = [];
  const { start, act } = await setUp({
    approve: async (subject) => {
      asked.push(subject);
      return { approved: true };
    },
  });
  const { session_id: id } = await start('cat');
  for (const data of pieces) await act('write', id, { data });
  await act('kill', id);
  const last = asked.at(-1);
  const judged = last && judgeSubject(last, {}, undefined);
  expect(judged).toMatchObject({ verdict: 'dangerous', category: 'recursive-delete' });
});

test('an answer to a program is no dangerous command', async () => {
  const asked: ApprovalSubject[] = [];
  const { start, act } = await setUp({
    approve: async (subject) => {
      asked.push(subject);
      return { approved: true };
    },
  });
  const { session_id: id } = await start('cat');
  for (const data of ['y', 'my-project', '1.0.0', '']) await act('submit', id, { data });
  await act('kill', id);
  expect(asked.map((subject) => judgeSubject(subject, {}, undefined).verdict)).toEqual(
    asked.map(() => 'safe'),
  );
});
