import { randomBytes } from 'node:crypto';
import { posix } from 'node:path';
import { GatewayError } from '../../src/errors.ts';
import type { BackendName, Environment, ExecRequest, ExecResult } from './environment.ts';
import { followCommand } from './run-command.ts';
import {
  backgroundScript,
  baseScript,
  commandScript,
  parseMarker,
  type ShellName,
} from './session-script.ts';
import { createSessionStates } from './session-states.ts';
import type { Transport } from './transport.ts';

/** What makes one backend out of the common execution model. */
export interface ShellBackend {
  backend: BackendName;
  isolated: boolean;
  home: string;
  defaultCwd: string;
  shell: ShellName;
  /** An existing private folder inside the environment, made new when the environment is. */
  stateFolder: string;
  transport: Transport;
  files: Environment['files'];
  /** Starts a background program; `argv` reads the session's state, prints a marker and runs the command. */
  spawn(argv: readonly string[], options: { pty: boolean; mark: string }): ReturnType<Environment['spawn']>;
  /** Takes up a process of an earlier gateway. Default: nothing outlives the gateway. */
  adopt?: Environment['adopt'];
  /** Makes what a lost place needs again, such as the state folder. Called before the base is dumped. */
  prepare?(): Promise<void>;
  baseTimeoutMs?: number;
  close(): Promise<void>;
}

const baseTimeoutMs = 30_000;
/** One argument of a program may hold 128 KiB on Linux (MAX_ARG_STRLEN); longer commands go through a file. */
const longestArgument = 100_000;

/** The `Environment` that all backends share: sessions, state, limits and files over one `Transport`. */
export function createShellEnvironment(options: ShellBackend): Environment {
  const { transport, shell, stateFolder, home, defaultCwd } = options;
  const states = createSessionStates(stateFolder, defaultCwd);
  let base: Promise<void> | null = null;

  const shellArgv = (script: string, ...args: string[]) => [shell, '-c', script, shell, ...args];

  /** Login shell first; where its start-up files are broken, a plain one. */
  async function dumpBase(): Promise<void> {
    await options.prepare?.();
    const file = posix.join(stateFolder, 'base');
    const failures: string[] = [];
    for (const flag of ['-lc', '-c']) {
      const running = await transport.start({ argv: [shell, flag, baseScript(shell), shell, file] });
      const signal = new AbortController().signal;
      const run = await followCommand(running, { timeoutMs: options.baseTimeoutMs ?? baseTimeoutMs, signal });
      if (run.exitCode === 0) return;
      failures.push(`${shell} ${flag} ended with ${run.exitCode}: ${run.output.trim().slice(-300)}`);
    }
    throw new GatewayError('environment_unavailable', `The ${options.backend} environment starts no shell.`, {
      mend: failures.join('; '),
    });
  }

  function ready(): Promise<void> {
    base ??= dumpBase().catch((error) => {
      // Not kept: the next command tries again.
      base = null;
      throw error;
    });
    return base;
  }

  function folderFor(sessionCwd: string, asked: string): string {
    if (asked === '~' || asked.startsWith('~/')) return posix.join(home, asked.slice(1));
    return posix.resolve(sessionCwd, asked);
  }

  async function shortened(command: string): Promise<string> {
    const bytes = Buffer.from(command);
    if (bytes.length <= longestArgument) return command;
    const file = posix.join(stateFolder, `command-${randomBytes(6).toString('hex')}`);
    await options.files.write(file, bytes);
    return `h_text=$(cat '${file}'; rm -f '${file}'); eval "unset h_text; $h_text"`;
  }

  async function attempt(request: ExecRequest) {
    await ready();
    const lease = states.begin(request.sessionId);
    const mark = newMark();
    let ended: Parameters<typeof lease.end>[0] = { saved: false };
    try {
      const explicit = request.cwd === undefined ? null : folderFor(lease.cwd, request.cwd);
      const argv = shellArgv(
        commandScript(shell),
        lease.source,
        lease.target,
        explicit ?? lease.cwd,
        explicit === null ? 'lenient' : 'strict',
        mark,
        request.streams ?? 'apart',
        await shortened(request.command),
      );
      const running = await transport.start({
        argv,
        merged: request.streams === 'merged',
        ...(request.stdin !== undefined && { stdin: request.stdin }),
      });
      const run = await followCommand(running, request, mark);
      const marker = parseMarker(run.marker ?? '');
      if (marker?.state === 'nodir') throw missingFolder(explicit ?? lease.cwd, options.backend);
      // A cwd given for one command doesn't move the session.
      // What was stopped changes nothing, although its shell may have saved its state while it was ended.
      const completed = run.outcome === 'exited' && marker !== null && marker.state !== 'lost';
      const moved = completed && explicit === null;
      ended = { saved: completed && marker.state === 'saved', ...(moved && { cwd: marker.cwd }) };
      return { run, state: marker?.state, cwd: marker?.cwd ?? lease.cwd };
    } finally {
      lease.end(ended);
    }
  }

  async function exec(request: ExecRequest): Promise<ExecResult> {
    let done = await attempt(request);
    const recreated = done.state === 'lost';
    if (recreated) {
      // The state files are gone, so the place was made anew or cleaned. Nothing has run yet.
      base = null;
      states.reset();
      done = await attempt(request);
    }
    const { stdout, stderr, output, exitCode, outcome, omittedBytes, survivors } = done.run;
    const note = survivorsNote(survivors);
    return {
      stdout,
      stderr: stderr + note,
      output: output + note,
      exitCode,
      outcome,
      omittedBytes,
      cwd: states.cwd(request.sessionId),
      ...(recreated && { recreated }),
    };
  }

  return {
    backend: options.backend,
    isolated: options.isolated,
    home,
    defaultCwd,
    files: options.files,
    cwd: states.cwd,
    exec,
    async run(argv, limits) {
      const running = await transport.start({
        argv,
        ...(limits.cwd !== undefined && { cwd: limits.cwd }),
        ...(limits.stdin !== undefined && { stdin: limits.stdin }),
      });
      const { exitCode, stdout, stderr } = await followCommand(running, limits);
      return { exitCode, stdout, stderr };
    },
    async spawn({ command, sessionId, cwd, pty }) {
      await ready();
      const current = states.cwd(sessionId);
      const folder = cwd === undefined ? current : folderFor(current, cwd);
      if (cwd !== undefined && (await options.files.stat(folder))?.kind !== 'directory') {
        throw missingFolder(folder, options.backend);
      }
      const text = await shortened(command);
      const mark = newMark();
      const argv = shellArgv(backgroundScript(shell), states.source(sessionId), folder, mark, text);
      return options.spawn(argv, { pty, mark });
    },
    adopt: options.adopt ?? (async () => null),
    async forget(sessionId) {
      for (const file of states.forget(sessionId)) await options.files.remove(file);
    },
    close: options.close,
  };
}

function survivorsNote(survivors: readonly number[] | null): string {
  if (survivors === null) return '\n[Whether everything that it started was ended is unknown]\n';
  return survivors.length === 0 ? '' : `\n[Processes that could not be ended: ${survivors.join(', ')}]\n`;
}

const newMark = () => `__HERMES_${randomBytes(9).toString('hex')}__`;

function missingFolder(folder: string, backend: string): GatewayError {
  return new GatewayError('environment_refused', `The folder ${folder} does not exist (${backend}).`, {
    mend: 'Create it first, or leave workdir out to stay where the session is.',
  });
}
