import { errorMessage } from '../../src/errors.ts';
import { createBacklog } from './backlog.ts';
import type { BackgroundStart } from './environment.ts';
import { type LocalBackgroundOptions, startLocalBackground, startToken } from './local-background.ts';
import { wrapped } from './local-transport.ts';
import { createMarkerFilter } from './marker-filter.ts';
import { killTree, tagVariable } from './process-tree.ts';
import { terminalEnv, terminalSize } from './transport.ts';

/** On a pseudo-terminal if asked, else on pipes; where there is no terminal to be had, on pipes with a note. */
export async function startOnMachine(
  argv: readonly string[],
  { pty, mark }: { pty: boolean; mark: string },
  options: LocalBackgroundOptions,
): Promise<BackgroundStart & { ptyNote?: string }> {
  if (!pty) return startLocalBackground(argv, mark, options);
  try {
    return await startLocalPty(argv, mark, options);
  } catch (error) {
    const started = await startLocalBackground(argv, mark, options);
    return { ...started, ptyNote: `No pseudo-terminal here, so pipes are used: ${errorMessage(error)}` };
  }
}

/** A background process on a pseudo-terminal. Rejects when the native library cannot be loaded. */
async function startLocalPty(
  argv: readonly string[],
  mark: string,
  options: Omit<LocalBackgroundOptions, 'fifos'>,
): Promise<BackgroundStart> {
  const { spawn } = await import('@lydell/node-pty');
  const tag = options.newTag();
  const real = wrapped(options.wrap, argv, { tag, cwd: options.cwd });
  const [program = '', ...args] = real.argv;
  const terminal = spawn(program, args, {
    name: terminalEnv.TERM,
    cols: terminalSize.columns,
    rows: terminalSize.rows,
    cwd: real.cwd,
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
