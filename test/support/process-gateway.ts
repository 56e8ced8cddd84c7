import { systemClock } from '../../src/clock.ts';
import { silentLog } from '../../src/log.ts';
import { createProcessTable } from '../../tools/environments/background-processes.ts';
import { createEnvironments } from '../../tools/environments/environments.ts';
import type { TerminalOptions } from '../../tools/environments/options.ts';
import type { ProcessNotice, ProcessRow, ProcessStore } from '../../tools/environments/process-table.ts';

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

/** Run as a program, to be killed: starts the commands given and prints each row that it stores. */
if (process.argv[1] === import.meta.filename) {
  const { options, installId, commands } = JSON.parse(process.argv[2] ?? '{}');
  const print = async (row: ProcessRow) => void process.stdout.write(`${JSON.stringify(row)}\n`);
  const gateway = openProcessGateway(options, installId, {
    save: print,
    load: async () => [],
    remove: async () => undefined,
  });
  for (const command of commands) await gateway.start(command);
  process.stdout.write('ready\n');
  setInterval(() => undefined, 1_000);
}
