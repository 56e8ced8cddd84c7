import { installIdOf } from '../../tools/environments/index.ts';
import { tryBackend } from '../../tools/environments/try-backend.ts';
import { createLog } from '../log.ts';
import { loadHome, makeHome } from './load.ts';
import { print } from './print.ts';
import { terminalOptionsOf } from './terminal-options.ts';

/** `terminal try [BACKEND]`: opens the backend, runs the basics of its contract, says what was seen; exit 1 on a failure. */
export async function tryTerminal(backend: string | undefined): Promise<void> {
  const loaded = await loadHome(backend === undefined ? {} : { flags: { 'terminal.backend': backend } });
  const { config, home, env } = loaded;
  await makeHome(home);
  print(`Trying ${config.terminal.backend}`);
  const context = {
    taskId: 'terminal-try',
    installId: installIdOf(home),
    log: createLog('error'),
    env,
    onProgress: print,
  };
  const steps = await tryBackend(terminalOptionsOf(config, home), context);
  for (const { name, ok, ms, detail } of steps) print(`${ok ? '✓' : '✗'} ${name} (${ms} ms): ${detail}`);
  if (steps.some((step) => !step.ok)) process.exitCode = 1;
}
