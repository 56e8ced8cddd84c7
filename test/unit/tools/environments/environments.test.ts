import { expect, test } from 'vitest';
import { silentLog } from '../../../../src/log.ts';
import { createEnvironments } from '../../../../tools/environments/environments.ts';
import { createLocalEnvironment } from '../../../../tools/environments/local.ts';
import type { TerminalOptions } from '../../../../tools/environments/options.ts';
import { testOptions } from '../../../support/terminal-options.ts';

const never = new AbortController().signal;
const pwd = { command: 'pwd', sessionId: 's', timeoutMs: 10_000, signal: never };

function setUp(backend: TerminalOptions['backend'] = 'docker', sharedTask?: string) {
  let nowMs = 0;
  let sweep: () => void = () => undefined;
  const opened: { image: string; taskId: string }[] = [];
  const closed: string[] = [];
  let failing = false;
  const environments = createEnvironments({
    options: () => testOptions('/tmp', { backend, lifetimeMs: 300_000, docker: { image: 'base' } }),
    context: { installId: 'test', log: silentLog, env: {} },
    ...(sharedTask !== undefined && { sharedTask }),
    clock: {
      now: () => nowMs,
      after: (_delayMs, task) => {
        sweep = task;
        return () => undefined;
      },
    },
    // The shell is this machine's; only the name of the backend is another.
    async open(options, { taskId }) {
      if (failing) throw new Error('not now');
      const image = backend === 'daytona' ? options.daytona.image : options.docker.image;
      opened.push({ image, taskId });
      const local = await createLocalEnvironment({ cwd: '/tmp' });
      return {
        ...local,
        backend: options.backend,
        async close() {
          closed.push(taskId);
          await local.close();
        },
      };
    },
  });
  return {
    environments,
    opened,
    closed,
    fail: (now: boolean) => {
      failing = now;
    },
    pass(ms: number) {
      nowMs += ms;
      sweep();
    },
  };
}

test('a program beside the gateway has a sandbox of its own', async () => {
  const { environments, opened } = setUp('docker', 'chat');
  await environments.for('a');
  expect(opened).toEqual([{ image: 'base', taskId: 'chat' }]);
});

test('tasks share one environment, opened once however many ask', async () => {
  const { environments, opened } = setUp();
  await Promise.all(['a', 'b', 'c'].map((task) => environments.for(task)));
  expect(opened).toEqual([{ image: 'base', taskId: 'default' }]);
  await environments.close();
});

test('a task with an image of its own has an environment of its own', async () => {
  const { environments, opened } = setUp();
  environments.registerTaskEnvOverrides('special', { dockerImage: 'other' });
  await environments.for('plain');
  await environments.for('special');
  expect(opened).toEqual([
    { image: 'base', taskId: 'default' },
    { image: 'other', taskId: 'special' },
  ]);
  environments.clearTaskEnvOverrides('special');
  await environments.for('special');
  expect(opened).toHaveLength(2);
  await environments.close();
});

test('a task may have an image of its own at Daytona', async () => {
  const { environments, opened } = setUp('daytona');
  environments.registerTaskEnvOverrides('special', { daytonaImage: 'snapshot:other' });
  await environments.for('special');
  expect(opened).toEqual([{ image: 'snapshot:other', taskId: 'special' }]);
  await environments.close();
});

test('a folder of its own needs no other environment, and counts for that task only', async () => {
  const { environments, opened } = setUp();
  environments.registerTaskEnvOverrides('elsewhere', { cwd: '/usr' });
  const [elsewhere, plain] = await Promise.all([environments.for('elsewhere'), environments.for('plain')]);
  expect(elsewhere.cwd('s')).toBe('/usr');
  expect((await elsewhere.exec(pwd)).stdout).toBe('/usr\n');
  expect((await plain.exec({ ...pwd, sessionId: 'other' })).stdout).toBe('/tmp\n');
  await elsewhere.exec({ ...pwd, command: 'cd /var' });
  expect((await elsewhere.exec(pwd)).stdout).toBe('/var\n');
  expect(opened).toHaveLength(1);
  await environments.close();
});

test('an idle environment is closed and opened anew at the next use', async () => {
  const { environments, opened, closed, pass } = setUp();
  await environments.for('a');
  pass(299_000);
  pass(2_000);
  await expect.poll(() => closed).toEqual(['default']);
  await environments.for('a');
  expect(opened).toHaveLength(2);
  await environments.close();
});

test('nothing is closed under a background process', async () => {
  const { environments, closed, pass } = setUp();
  const environment = await environments.for('a');
  const process = await environment.spawn({ command: 'sleep 60', sessionId: 's', pty: false });
  pass(900_000);
  expect(closed).toEqual([]);
  await process.kill();
  await process.exited;
  pass(900_000);
  await expect.poll(() => closed).toEqual(['default']);
  await environments.close();
});

test('this machine is never closed for being idle', async () => {
  const { environments, closed, pass } = setUp('local');
  await environments.for('a');
  pass(9_000_000);
  await environments.for('a');
  expect(closed).toEqual([]);
  await environments.close();
});

test('an environment that could not be opened is tried again', async () => {
  const { environments, opened, fail } = setUp();
  fail(true);
  await expect(environments.for('a')).rejects.toThrow('not now');
  fail(false);
  await environments.for('a');
  expect(opened).toHaveLength(1);
  await environments.close();
});

test('closing goes on although one environment cannot be opened', async () => {
  const { environments, closed, fail } = setUp();
  environments.registerTaskEnvOverrides('special', { dockerImage: 'other' });
  await environments.for('plain');
  fail(true);
  const failing = environments.for('special').catch(() => 'failed');
  await environments.close();
  expect(await failing).toBe('failed');
  expect(closed).toEqual(['default']);
});
