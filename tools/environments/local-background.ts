import { StringDecoder } from 'node:string_decoder';
import type { NewTag } from './command-tags.ts';
import type { BackgroundStart } from './environment.ts';
import { closeFile, type Fifos } from './fifos.ts';
import { exitOf, startProgram, type Wrap, wrapped } from './local-transport.ts';
import { createMarkerFilter } from './marker-filter.ts';
import { killTree, processStat, tagVariable } from './process-tree.ts';
import { within } from './run-command.ts';

export interface LocalBackgroundOptions {
  fifos: Fifos;
  cwd: string;
  env: Readonly<Record<string, string>>;
  newTag: NewTag;
  wrap?: Wrap;
}

/** After the exit a grandchild may still hold the pipe: this long a silence ends the wait for more output. */
const heldPipeMs = 600;

/** A background process on pipes: output in exact order, input until it is closed. */
export async function startLocalBackground(
  argv: readonly string[],
  mark: string,
  options: LocalBackgroundOptions,
): Promise<BackgroundStart> {
  const tag = options.newTag();
  const output = await options.fifos.output();
  const input = await options.fifos.input();
  const real = wrapped(options.wrap, argv, { tag, cwd: options.cwd });
  const child = startProgram(real.argv, {
    cwd: real.cwd,
    env: { ...options.env, [tagVariable]: tag },
    stdio: [input.fd, output.fd, output.fd],
  });
  const exit = exitOf(child, argv[0] ?? '', real.cwd).catch(() => 127);
  await Promise.all([closeFile(input.fd), closeFile(output.fd)]);
  const ended = new Promise<void>((resolve) => output.stream.once('close', () => resolve()));
  // The program may end without reading its input (EPIPE): its exit tells more.
  input.stream.on('error', () => input.stream.destroy());
  const exited = exit.then(async (code) => {
    input.stream.destroy();
    await within(heldPipeMs, ended, undefined);
    output.stream.destroy();
    return code;
  });
  return {
    pid: child.pid ?? null,
    startedAt: child.pid === undefined ? null : await startToken(child.pid, tag),
    exited,
    onOutput(listener) {
      const decoder = new StringDecoder('utf8');
      const unmarked = createMarkerFilter(mark, (chunk) => listener(decoder.write(Buffer.from(chunk))));
      output.stream.on('data', unmarked.append);
      output.stream.once('close', unmarked.end);
    },
    write: (data) =>
      new Promise((resolve) => {
        if (!input.stream.writable) return resolve(false);
        input.stream.write(data, (error) => resolve(error === undefined || error === null));
      }),
    closeInput: () => new Promise((resolve) => input.stream.end(() => resolve())),
    // A pipe has no size.
    resize: () => undefined,
    kill: () => (child.pid === undefined ? Promise.resolve([]) : killTree(child.pid, tag)),
  };
}

/** Identifies a process for later: its start time and its tag. */
export async function startToken(pid: number, tag: string): Promise<string | null> {
  const stat = await processStat(pid);
  return stat === null ? null : `${stat.startTicks}:${tag}`;
}

/**
 * Takes up a process that an earlier run of the gateway started. Null when it is gone, or when the pid now belongs
 * to another process. There is no output and no input, but it can be waited for and killed.
 */
export async function adoptLocalProcess(pid: number, token: string): Promise<BackgroundStart | null> {
  const [startTicks = '', tag = ''] = token.split(':');
  const isSame = async () => {
    const stat = await processStat(pid);
    return stat !== null && stat.state !== 'Z' && stat.startTicks === startTicks;
  };
  if (startTicks === '' || !(await isSame())) return null;
  return {
    pid,
    startedAt: token,
    exited: untilGone(isSame),
    onOutput: () => undefined,
    write: async () => false,
    closeInput: async () => undefined,
    resize: () => undefined,
    kill: async () => ((await isSame()) ? killTree(pid, tag) : []),
  };
}

/** The exit code of a process that this gateway didn't start: only the system's own parent learns it. */
export const unknownExit = -1;
const watchMs = 1_000;

function untilGone(isSame: () => Promise<boolean>): Promise<number> {
  return new Promise((resolve) => {
    const timer = setInterval(() => {
      isSame().then((alive) => {
        if (alive) return;
        clearInterval(timer);
        resolve(unknownExit);
      });
    }, watchMs);
    timer.unref();
  });
}
