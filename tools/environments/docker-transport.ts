import type { Duplex } from 'node:stream';
import type Docker from 'dockerode';
import { sleep, systemClock } from '../../src/clock.ts';
import { GatewayError } from '../../src/errors.ts';
import type { NewTag } from './command-tags.ts';
import { ask, statusOf } from './docker-engine.ts';
import { createFrameReader } from './docker-stream.ts';
import { tagVariable } from './process-tree.ts';
import { killArgv, parseSurvivors } from './remote-kill.ts';
import { within } from './run-command.ts';
import { rawRun } from './shell-files.ts';
import {
  type CommandStart,
  type RunningCommand,
  type Transport,
  terminalEnv,
  terminalSize,
} from './transport.ts';

export interface DockerTransportOptions {
  /** The running container; made anew when it is gone. */
  container(): Promise<Docker.Container>;
  /** Tells that the container that was given is gone or stopped. */
  lost(): void;
  env: Readonly<Record<string, string>>;
  newTag: NewTag;
  user?: string;
}

const killMs = 5_000;

/** Programs inside a container, by the engine's exec. */
export function createDockerTransport(options: DockerTransportOptions): Transport {
  const transport: Transport = { start };

  async function start(command: CommandStart): Promise<RunningCommand> {
    const tag = options.newTag();
    const exec = await createExec(command, tag, true);
    const keepsInput = command.stdin !== undefined || command.interactive !== undefined;
    const stream = await ask(
      'start a command',
      exec.start({ hijack: keepsInput, stdin: keepsInput, Tty: command.interactive === 'terminal' }),
    );
    if (command.stdin !== undefined) stream.end(command.stdin);
    return followExec(exec, stream, command, async () => {
      const { stdout } = await rawRun(transport, { argv: killArgv(tag) }, killMs);
      return parseSurvivors(stdout.toString('utf8'));
    });
  }

  async function createExec(command: CommandStart, tag: string, mayRetry: boolean): Promise<Docker.Exec> {
    const container = await options.container();
    const tty = command.interactive === 'terminal';
    const env = { ...options.env, ...(tty && terminalEnv), [tagVariable]: tag };
    try {
      return await ask(
        'prepare a command',
        container.exec({
          Cmd: [...command.argv],
          Env: Object.entries(env).map(([name, value]) => `${name}=${value}`),
          AttachStdin: command.stdin !== undefined || command.interactive !== undefined,
          AttachStdout: true,
          AttachStderr: true,
          Tty: tty,
          ...(command.cwd !== undefined && { WorkingDir: command.cwd }),
          ...(options.user !== undefined && { User: options.user }),
        }),
      );
    } catch (error) {
      // 404: removed; 409: stopped or paused. Nothing has run, so a new container may take the command.
      const isGone = statusOf(error) === 404 || statusOf(error) === 409;
      if (!isGone || !mayRetry) throw error;
      options.lost();
      return createExec(command, tag, false);
    }
  }

  return transport;
}

function followExec(
  exec: Docker.Exec,
  stream: Duplex,
  command: CommandStart,
  kill: () => Promise<number[]>,
): RunningCommand {
  const ended = new Promise<void>((resolve) => {
    stream.once('end', () => resolve());
    stream.once('close', () => resolve());
    stream.once('error', () => resolve());
  });
  const exited = exitCodeOf(exec, ended);
  // Told to whoever follows; a failure before that must not count as unhandled.
  exited.catch(() => undefined);
  let lastResize: Promise<void> = Promise.resolve();
  const resize = (columns: number, rows: number) => {
    if (command.interactive !== 'terminal') return;
    // In turn, lest an earlier size arrive after a later one.
    lastResize = lastResize.then(() => resizeTerminal(exec, columns, rows));
  };
  resize(terminalSize.columns, terminalSize.rows);
  return {
    onData(listener) {
      const raw = command.interactive === 'terminal';
      stream.on('data', raw ? (chunk: Buffer) => listener('stdout', chunk) : createFrameReader(listener));
    },
    exited,
    ended,
    input:
      command.interactive === undefined
        ? null
        : {
            write: (data) =>
              new Promise((resolve) => {
                if (!stream.writable) return resolve(false);
                stream.write(data, (error) => resolve(error === undefined || error === null));
              }),
            end: () => new Promise((resolve) => stream.end(() => resolve())),
          },
    resize,
    kill,
    release: () => stream.destroy(),
  };
}

const resizeTries = 5;
const resizePauseMs = 100;

/** Just after its start a process has no terminal to resize yet, and after its end it has none any more. */
async function resizeTerminal(exec: Docker.Exec, columns: number, rows: number): Promise<void> {
  for (let attempt = 0; attempt < resizeTries; attempt += 1) {
    const isDone = await exec.resize({ w: columns, h: rows }).then(
      () => true,
      () => false,
    );
    if (isDone) return;
    await sleep(systemClock, resizePauseMs);
  }
}

const firstLookMs = 30;
const lastLookMs = 250;

/** The engine tells no exit of an exec, so it is asked: at once when the output ends, else now and then. */
async function exitCodeOf(exec: Docker.Exec, ended: Promise<void>): Promise<number> {
  let waitMs = firstLookMs;
  let isOver = false;
  const over = ended.then(() => {
    isOver = true;
  });
  await within(waitMs, over, undefined);
  for (;;) {
    const { Running: running, ExitCode: exitCode } = await ask(
      'see whether a command ended',
      exec.inspect(),
    ).catch((error) => {
      throw new GatewayError(
        'environment_unavailable',
        'The connection to Docker was lost while the command ran; whether it ended is unknown.',
        { mend: 'See what it did before running it again.', cause: error },
      );
    });
    if (!running && exitCode !== null) return exitCode;
    waitMs = Math.min(waitMs * 1.5, lastLookMs);
    await new Promise((resolve) => setTimeout(resolve, isOver ? 5 : 0));
    if (!isOver) await within(waitMs, over, undefined);
  }
}
