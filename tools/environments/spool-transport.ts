import { GatewayError } from '../../src/errors.ts';
import { randomTag } from './command-tags.ts';
import { killScript, parseSurvivors } from './remote-kill.ts';
import {
  closeInputScript,
  followScript,
  inputScript,
  parseFetched,
  type SpoolLine,
  startScript,
} from './spool-scripts.ts';
import type { CommandInput, CommandStart, RunningCommand, StreamName, Transport } from './transport.ts';

/** A place that runs short scripts and takes files: all that a cloud's API need offer. */
export interface RemoteShell {
  /**
   * What the script printed. It is sent again after a failure on the way, so it must bear that. Rejects with a
   * `PlaceLost` when the place is not there any more.
   */
  run(
    script: string,
    args: readonly string[],
    options: { limitMs: number; signal?: AbortSignal },
  ): Promise<string>;
  /** Writes a new file below `folder`. */
  upload(path: string, data: Uint8Array): Promise<void>;
  /** A private folder of the place, empty when the place is new. Known once the place is there. */
  folder(): Promise<string>;
}

/** The place is gone or stopped. `nothingRan`: it was so before the script arrived, so a new place may take it. */
export class PlaceLost extends GatewayError {
  readonly nothingRan: boolean;

  constructor(message: string, nothingRan: boolean, cause: unknown) {
    super('environment_unavailable', message, {
      mend: nothingRan
        ? 'Run it again: the sandbox is made anew.'
        : 'See first what it did, then run it again.',
      retryable: nothingRan,
      cause,
    });
    this.nothingRan = nothingRan;
  }
}

/** How long the first answer waits for a short command's end; then the command counts as running. */
const firstWaitHundredths = 30;
/** A silent command is asked about this often. */
const waitHundredths = 500;
const gatherHundredths = 50;
/** For the way there and back, besides the wait. */
const answerMs = 30_000;
/** One argument may hold 128 KiB on Linux, and the whole script goes as one text. */
const longestInline = 48_000;
const inputPieceBytes = 24_000;

/** Programs in a place that only runs short scripts: each command is a job there whose output is fetched. */
export function createSpoolTransport(shell: RemoteShell): Transport {
  /** Jobs whose folders the next command removes: a call of their own would cost a round trip. */
  let finished: string[] = [];

  async function start(command: CommandStart): Promise<RunningCommand> {
    const tag = randomTag();
    try {
      return await startOnce(command, tag);
    } catch (error) {
      if (!(error instanceof PlaceLost && error.nothingRan)) throw error;
      finished = [];
      return startOnce(command, tag);
    }
  }

  async function startOnce(command: CommandStart, tag: string): Promise<RunningCommand> {
    const job = `${await shell.folder()}/${tag}`;
    const forgotten = finished.splice(0);
    const inline = command.argv.reduce((sum, word) => sum + word.length, 0) <= longestInline;
    if (!inline) await shell.upload(`${job}.argv`, Buffer.from(`set -- ${quoted(command.argv)}\n`));
    if (command.stdin !== undefined) await shell.upload(`${job}.in`, Buffer.from(command.stdin));
    const text = await shell.run(
      startScript,
      [
        await shell.folder(),
        tag,
        command.cwd ?? '',
        // There is no terminal, and a process's output is one stream.
        command.merged === true || command.interactive !== undefined ? 'merged' : 'apart',
        inputOf(command, job),
        inline ? '-' : `${job}.argv`,
        String(firstWaitHundredths),
        String(forgotten.length),
        ...forgotten,
        ...(inline ? command.argv : []),
      ],
      { limitMs: answerMs },
    );
    const first = parseFetched(text);
    return followJob(shell, job, first, command.interactive !== undefined, {
      kill: async () => parseSurvivors(await shell.run(killScript, [tag], { limitMs: answerMs })),
      release: () => finished.push(tag),
    });
  }

  return { start };
}

function inputOf(command: CommandStart, job: string): string {
  if (command.interactive !== undefined) return 'held';
  return command.stdin === undefined ? 'none' : `${job}.in`;
}

export const quoted = (words: readonly string[]) =>
  words.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ');

type Listener = (stream: StreamName, chunk: Uint8Array) => void;

function followJob(
  shell: RemoteShell,
  job: string,
  first: readonly SpoolLine[],
  interactive: boolean,
  acts: { kill(): Promise<number[]>; release(): void },
): RunningCommand {
  const released = new AbortController();
  const exit = Promise.withResolvers<number>();
  const end = Promise.withResolvers<void>();
  const listening = Promise.withResolvers<Listener>();
  // Told to whoever follows; a failure before that must not count as unhandled.
  exit.promise.catch(() => undefined);

  async function follow(): Promise<void> {
    let lines = first;
    const listener = await listening.promise;
    for (;;) {
      for (const line of lines) if (line.kind === 'chunk') listener(line.stream, line.data);
      for (const line of lines) {
        if (line.kind === 'exit') exit.resolve(line.code);
        if (line.kind === 'gone') throw lostJob();
        if (line.kind === 'end') return;
      }
      if (released.signal.aborted) return;
      lines = await fetchMore(lines);
    }
  }

  async function fetchMore(seen: readonly SpoolLine[]): Promise<SpoolLine[]> {
    const received = seen.flatMap((line) => (line.kind === 'chunk' ? [line.name] : []));
    const args = [job, String(waitHundredths), String(gatherHundredths), ...received];
    const options = { limitMs: waitHundredths * 10 + answerMs, signal: released.signal };
    const text = await shell.run(followScript, args, options).catch((error) => {
      throw error instanceof PlaceLost ? lostJob(error) : error;
    });
    return parseFetched(text);
  }

  // A release ends the fetch on the way by an error that nobody waits for.
  follow().catch(exit.reject).finally(end.resolve);
  return {
    onData: listening.resolve,
    exited: exit.promise,
    ended: end.promise,
    input: interactive ? inputFor(shell, job) : null,
    resize: () => undefined,
    kill: acts.kill,
    release() {
      if (released.signal.aborted) return;
      released.abort();
      acts.release();
    },
  };
}

function lostJob(cause?: unknown): GatewayError {
  return new GatewayError(
    'environment_unavailable',
    'The sandbox was stopped or lost while the command ran; whether it ended is unknown.',
    { mend: 'See first what it did, then run it again.', cause },
  );
}

function inputFor(shell: RemoteShell, job: string): CommandInput {
  let pieces = 0;
  let last: Promise<boolean> = Promise.resolve(true);

  async function writeNow(data: Buffer): Promise<boolean> {
    for (let from = 0; from < data.length; from += inputPieceBytes) {
      pieces += 1;
      const piece = data.subarray(from, from + inputPieceBytes).toString('base64');
      const answer = await shell.run(inputScript, [job, String(pieces), piece], { limitMs: answerMs });
      if (answer.trim() === 'no') return false;
    }
    return true;
  }

  return {
    /** In turn: two calls on the way might overtake each other. */
    write(data) {
      last = last.catch(() => false).then(() => writeNow(Buffer.from(data)));
      return last;
    },
    async end() {
      await last.catch(() => false);
      await shell.run(closeInputScript, [job], { limitMs: answerMs });
    },
  };
}
