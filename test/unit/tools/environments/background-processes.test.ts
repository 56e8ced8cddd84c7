import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { systemClock } from '../../../../src/clock.ts';
import { silentLog } from '../../../../src/log.ts';
import { createProcessTable } from '../../../../tools/environments/background-processes.ts';
import type { Environment } from '../../../../tools/environments/environment.ts';
import { createLocalEnvironment } from '../../../../tools/environments/local.ts';
import type { ProcessNotice } from '../../../../tools/environments/process-table.ts';
import { isAlive } from '../../../../tools/environments/process-tree.ts';
import { memoryProcessStore } from './memory-process-store.ts';

let environment: Environment;
beforeAll(async () => {
  environment = await createLocalEnvironment();
});
afterAll(() => environment.close());

function openTable(store = memoryProcessStore(), notifyFails = false) {
  const notices: ProcessNotice[] = [];
  const table = createProcessTable({
    store,
    async notify(notice) {
      if (notifyFails) throw new Error('the store is full');
      notices.push(notice);
    },
    clock: systemClock,
    log: silentLog,
  });
  const start = (command: string, notifyOnComplete = false) =>
    table.start(environment, { sessionId: 's', command, pty: false, notifyOnComplete, watchPatterns: [] });
  return { table, store, notices, start };
}

const never = new AbortController().signal;

test('a process that outlives the gateway is taken up, without output, and can be killed', async () => {
  const before = openTable();
  const { id, pid } = await before.start('sleep 300');
  const after = openTable(before.store);
  await after.table.restore();
  expect(after.table.list('s')).toMatchObject([{ id, pid, status: 'running', detached: true }]);
  expect(await after.table.write(id, 'x')).toBe('no_stdin');
  expect(await after.table.kill(id)).toEqual({ killed: true, alreadyExited: false, survivors: [] });
  expect(isAlive(pid ?? 0)).toBe(false);
});

test('a pid that belongs to another process now is never signalled', async () => {
  const first = openTable();
  const { id, pid } = await first.start('sleep 300');
  const row = first.store.rows.get(id);
  if (row === undefined) throw new Error('The row was not stored.');
  await first.store.save({ ...row, startToken: `1:${row.startToken?.split(':')[1]}` });
  const after = openTable(first.store);
  await after.table.restore();
  await vi.waitUntil(() => after.table.find('s', id)?.status === 'exited');
  expect(await after.table.kill(id)).toMatchObject({ alreadyExited: true });
  expect(isAlive(pid ?? 0)).toBe(true);
  await first.table.kill(id);
});

test('what ended while no gateway ran is told after the start, once', async () => {
  const before = openTable(memoryProcessStore(), true);
  const { id } = await before.start('exit 2', true);
  await before.table.wait(id, 10_000, never);
  await vi.waitUntil(() => before.store.rows.get(id)?.status === 'exited');
  const after = openTable(before.store);
  await after.table.restore();
  await vi.waitUntil(() => after.notices.length > 0);
  expect(after.notices[0]?.text).toContain('exit code 2');
  await vi.waitUntil(() => after.store.rows.get(id)?.consumed === true);
  const third = openTable(before.store);
  await third.table.restore();
  await third.table.wait(id, 1_000, never);
  expect(third.notices).toEqual([]);
});

test('stopping a session kills its processes and no others, without a notice', async () => {
  const { table, notices, start } = openTable();
  const mine = await start('sleep 300', true);
  const other = await table.start(environment, {
    sessionId: 'other',
    command: 'sleep 300',
    pty: false,
    notifyOnComplete: false,
    watchPatterns: [],
  });
  expect(await table.killSession('s')).toBe(1);
  expect(table.find('s', mine.id)?.status).toBe('exited');
  expect(table.find('other', other.id)?.status).toBe('running');
  expect(notices).toEqual([]);
  await table.killSession('other');
});

test('of much output the last 200,000 characters are kept', async () => {
  const { table, start } = openTable();
  const { id } = await start('head -c 700000 /dev/zero | tr "\\0" x; echo end');
  await table.wait(id, 10_000, never);
  const output = table.output(id);
  expect(output).toHaveLength(200_000);
  expect(output.endsWith('end\n')).toBe(true);
});

test('waiting ends at its timeout and at an interruption', async () => {
  const { table, start } = openTable();
  const { id } = await start('sleep 300');
  expect(await table.wait(id, 50, never)).toBe('timeout');
  expect(await table.wait(id, 10_000, AbortSignal.abort())).toBe('interrupted');
  await table.kill(id);
});

test('a prefix that fits two processes finds neither', async () => {
  const { table, store } = openTable();
  const row = { ...blankRow, sessionId: 's' };
  await store.save({ ...row, id: 'proc_aaaa00000001' });
  await store.save({ ...row, id: 'proc_aaaa00000002' });
  await table.restore();
  expect(table.find('s', 'aaaa')).toBeNull();
  expect(table.find('s', 'aaaa00000001')?.id).toBe('proc_aaaa00000001');
  expect(table.find('someone else', 'proc_aaaa00000001')).toBeNull();
});

const blankRow = {
  command: 'true',
  cwd: '/',
  pid: null,
  startedAt: 0,
  status: 'exited',
  exitCode: 0,
  notifyOnComplete: false,
  watchPatterns: [],
  detached: false,
  backend: 'local',
  startToken: null,
  consumed: false,
} as const;
