import { createBacklog } from './backlog.ts';
import type { BackgroundStart } from './environment.ts';
import { startToken } from './local-background.ts';
import { newTag } from './local-transport.ts';
import { killTree, tagVariable } from './process-tree.ts';

/** The size that a terminal starts with: wide enough for tables, high enough for a full-screen program. */
const columns = 120;
const rows = 30;

/** Pagers wait for keys that an agent doesn't know it should press. */
const terminalEnv = { TERM: 'xterm-256color', PAGER: 'cat', GIT_PAGER: 'cat' };

/** A background process on a pseudo-terminal. Rejects when the native library cannot be loaded. */
export async function startLocalPty(
  argv: readonly string[],
  options: { cwd: string; env: Readonly<Record<string, string>> },
): Promise<BackgroundStart> {
  const { spawn } = await import('@lydell/node-pty');
  const tag = newTag();
  const [program = '', ...args] = argv;
  const terminal = spawn(program, args, {
    name: terminalEnv.TERM,
    cols: columns,
    rows,
    cwd: options.cwd,
    env: { ...options.env, ...terminalEnv, [tagVariable]: tag },
  });
  const output = createBacklog();
  terminal.onData(output.push);
  let running = true;
  const exited = new Promise<number>((resolve) => {
    terminal.onExit(({ exitCode, signal }) => {
      running = false;
      resolve(signal === undefined || signal === 0 ? exitCode : 128 + signal);
    });
  });
  return {
    pid: terminal.pid,
    startedAt: await startToken(terminal.pid, tag),
    exited,
    onOutput: output.listen,
    async write(data) {
      if (running) terminal.write(data);
      return running;
    },
    async closeInput() {
      // Ctrl-D: the end of input on a terminal.
      if (running) terminal.write('\x04');
    },
    resize(width, height) {
      if (running) terminal.resize(width, height);
    },
    kill: () => killTree(terminal.pid, tag),
  };
}
