import { createBacklog } from './backlog.ts';
import type { BackgroundStart } from './environment.ts';
import { startToken } from './local-background.ts';
import { newTag } from './local-transport.ts';
import { createMarkerFilter } from './marker-filter.ts';
import { killTree, tagVariable } from './process-tree.ts';
import { terminalEnv, terminalSize } from './transport.ts';

/** A background process on a pseudo-terminal. Rejects when the native library cannot be loaded. */
export async function startLocalPty(
  argv: readonly string[],
  mark: string,
  options: { cwd: string; env: Readonly<Record<string, string>> },
): Promise<BackgroundStart> {
  const { spawn } = await import('@lydell/node-pty');
  const tag = newTag();
  const [program = '', ...args] = argv;
  const terminal = spawn(program, args, {
    name: terminalEnv.TERM,
    cols: terminalSize.columns,
    rows: terminalSize.rows,
    cwd: options.cwd,
    env: { ...options.env, ...terminalEnv, [tagVariable]: tag },
  });
  const output = createBacklog();
  const unmarked = createMarkerFilter(mark, (chunk) => output.push(Buffer.from(chunk).toString('utf8')));
  terminal.onData((text) => unmarked.append(Buffer.from(text)));
  let running = true;
  const exited = new Promise<number>((resolve) => {
    terminal.onExit(({ exitCode, signal }) => {
      running = false;
      unmarked.end();
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
