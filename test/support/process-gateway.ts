import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { sleep, systemClock } from '../../src/clock.ts';
import { silentLog } from '../../src/log.ts';
import { createProcessTable } from '../../tools/environments/background-processes.ts';
import type { Environment } from '../../tools/environments/environment.ts';
import { createEnvironments } from '../../tools/environments/environments.ts';
import type { TerminalOptions } from '../../tools/environments/options.ts';
import type { ProcessNotice, ProcessRow, ProcessStore } from '../../tools/environments/process-table.ts';

import { memoryProcessStore } from '../unit/tools/environments/memory-process-store.ts';

/** What a gateway has of background processes: its environments and its table, over somebody's rows. */
export function openProcessGateway(
  options: TerminalOptions,
  installId: string,
  store: ProcessStore,
  notify: (notice: ProcessNotice) => void = () => undefined,
) {
  const environments = createEnvironments({
    options: () => options,
    context: { installId, log: silentLog, env: process.env },
    clock: systemClock,
  });
  const table = createProcessTable({
    store,
    notify: async (notice) => notify(notice),
    adopt: environments.adopt,
    clock: systemClock,
    log: silentLog,
  });
  return {
    environments,
    table,
    async start(command: string, more: { pty?: boolean; notifyOnComplete?: boolean } = {}) {
      const { pty = false, notifyOnComplete = true } = more;
      const environment = await environments.for('default');
      return table.start(environment, {
        sessionId: 's',
        command,
        pty,
        notifyOnComplete,
        watchPatterns: [],
      });
    },
  };
}

interface KilledPlan {
  options: TerminalOptions;
  installId: string;
  /** In the background. */
  commands?: readonly string[];
  /** One that is running when the gateway is killed. */
  foreground?: string;
}

/** Starts these commands in a gateway of its own and kills it; resolves with the rows that it stored. */
export async function killedGateway(plan: KilledPlan) {
  const child = spawn(process.execPath, [import.meta.filename, JSON.stringify(plan)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const store = memoryProcessStore();
  for await (const line of createInterface({ input: child.stdout })) {
    if (line === 'ready') break;
    const row: ProcessRow = JSON.parse(line);
    await store.save(row);
  }
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await ended;
  return { store, rows: [...store.rows.values()] };
}

/** Run as a program, to be killed: starts what it is told to and prints each row that it stores. */
if (process.argv[1] === import.meta.filename) {
  const { options, installId, commands = [], foreground } = JSON.parse(process.argv[2] ?? '{}');
  const print = async (row: ProcessRow) => void process.stdout.write(`${JSON.stringify(row)}\n`);
  const gateway = openProcessGateway(options, installId, {
    save: print,
    load: async () => [],
    remove: async () => undefined,
  });
  for (const command of commands) await gateway.start(command);
  if (foreground !== undefined) await runForeground(await gateway.environments.for('default'), foreground);
  process.stdout.write('ready\n');
  setInterval(() => undefined, 1_000);
}

/** Resolves once the command runs; it goes on. */
async function runForeground(environment: Environment, command: string): Promise<void> {
  const mark = `${environment.home}/running-${process.pid}`;
  const text = `touch ${mark}; ${command}`;
  const never = new AbortController().signal;
  void environment.exec({ command: text, sessionId: 'f', timeoutMs: 600_000, signal: never });
  while ((await environment.files.stat(mark)) === null) await sleep(systemClock, 20);
  await environment.files.remove(mark);
}
