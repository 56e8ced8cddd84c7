import { type ChildProcess, spawn } from 'node:child_process';
import { open, rm, writeFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { constants } from 'node:os';
import { join } from 'node:path';
import { errorMessage, GatewayError } from '../../src/errors.ts';
import { type NewTag, randomTag } from './command-tags.ts';
import { closeFile, type Fifos } from './fifos.ts';
import { killTree, tagVariable } from './process-tree.ts';
import type { RunningCommand, StreamName, Transport } from './transport.ts';

export interface LocalTransportOptions {
  fifos: Fifos;
  /** Private folder for standard input. */
  folder: string;
  cwd: string;
  env: Readonly<Record<string, string>>;
  newTag: NewTag;
  wrap?: Wrap;
}

/** Puts a sandbox around a program: how it is really started, and in which folder of this machine. */
export type Wrap = (
  argv: readonly string[],
  place: { tag: string; cwd: string },
) => { argv: readonly string[]; cwd: string };

/**
 * Programs of this machine, each the leader of its own session, with named pipes for its output. Interactive ones are
 * started by `local-background` and `pty`.
 */
export function createLocalTransport(options: LocalTransportOptions): Transport {
  return {
    async start({ argv, cwd, stdin, merged = false }) {
      const tag = options.newTag();
      const out = await options.fifos.output();
      const err = merged ? out : await options.fifos.output();
      const input = stdin === undefined ? null : await inputFile(options.folder, stdin);
      const streams = merged ? [out.stream] : [out.stream, err.stream];
      try {
        const real = wrapped(options.wrap, argv, { tag, cwd: cwd ?? options.cwd });
        const child = startProgram(real.argv, {
          cwd: real.cwd,
          env: { ...options.env, [tagVariable]: tag },
          stdio: [input?.fd ?? 'ignore', out.fd, err.fd],
        });
        const exited = exitOf(child, argv[0] ?? '', real.cwd);
        // Told to whoever follows; a failure before that must not count as unhandled.
        exited.catch(() => undefined);
        return followChild(child, tag, exited, {
          stdout: out.stream,
          ...(!merged && { stderr: err.stream }),
        });
      } catch (error) {
        for (const stream of streams) stream.destroy();
        throw error;
      } finally {
        await input?.close();
        await closeFile(out.fd);
        if (!merged) await closeFile(err.fd);
      }
    },
  };
}

export const wrapped = (
  wrap: Wrap | undefined,
  argv: readonly string[],
  place: { tag: string; cwd: string },
): ReturnType<Wrap> => wrap?.(argv, place) ?? { argv, cwd: place.cwd };

interface ProgramOptions {
  cwd: string;
  env: Record<string, string>;
  stdio: ['ignore' | 'pipe' | number, number, number];
}

export function startProgram(argv: readonly string[], options: ProgramOptions): ChildProcess {
  const [program = '', ...args] = argv;
  return spawn(program, args, { ...options, detached: true });
}

/** The exit code as a shell would tell it; 127 or 126, as there, when the program could not be started. */
export function exitOf(child: ChildProcess, program: string, cwd: string): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('exit', (code, signal) =>
      resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal])),
    );
    child.once('error', (error) => {
      reject(
        new GatewayError(
          'environment_unavailable',
          `Could not start ${program} in ${cwd}: ${errorMessage(error)}`,
          {
            mend: 'Check that the program is installed and that the folder exists.',
            cause: error,
          },
        ),
      );
    });
  });
}

function followChild(
  child: ChildProcess,
  tag: string,
  exited: Promise<number>,
  streams: Partial<Record<StreamName, Socket>>,
): RunningCommand {
  const all = Object.values(streams);
  return {
    onData(listener) {
      streams.stdout?.on('data', (chunk: Buffer) => listener('stdout', chunk));
      streams.stderr?.on('data', (chunk: Buffer) => listener('stderr', chunk));
    },
    exited,
    ended: Promise.all(all.map(closed)).then(() => undefined),
    input: null,
    resize: () => undefined,
    kill: () => (child.pid === undefined ? Promise.resolve([]) : killTree(child.pid, tag)),
    release() {
      for (const stream of all) stream.destroy();
    },
  };
}

function closed(stream: Socket): Promise<void> {
  return new Promise((resolve) => {
    stream.once('close', () => resolve());
    stream.once('error', () => resolve());
  });
}

/** Standard input as a file: no partial writes, no broken pipe, and `/dev/stdin` can be opened again. */
async function inputFile(folder: string, data: string | Uint8Array) {
  const path = join(folder, `input-${randomTag()}`);
  await writeFile(path, data, { mode: 0o600, flag: 'wx' });
  const file = await open(path, 'r');
  await rm(path);
  return { fd: file.fd, close: () => file.close() };
}
