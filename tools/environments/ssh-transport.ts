import { constants } from 'node:os';
import type { ClientChannel } from 'ssh2';
import { errorMessage, GatewayError } from '../../src/errors.ts';
import type { NewTag } from './command-tags.ts';
import { tagVariable } from './process-tree.ts';
import { killArgv, parseSurvivors } from './remote-kill.ts';
import { within } from './run-command.ts';
import type { SshPool } from './ssh-pool.ts';
import {
  type CommandStart,
  type RunningCommand,
  type Transport,
  terminalEnv,
  terminalSize,
} from './transport.ts';

const killMs = 5_000;
const openTries = 5;
const openPauseMs = 150;

/** Programs on another host, each in a channel of a shared connection. Needs a POSIX `sh` and `env` there. */
export function createSshTransport(pool: SshPool, newTag: NewTag): Transport {
  let lastKill: Promise<unknown> = Promise.resolve();

  async function start(command: CommandStart): Promise<RunningCommand> {
    const tag = newTag();
    const use = command.interactive === undefined ? 'command' : 'background';
    const { client, done } = await pool.take(use);
    try {
      return await openChannel(
        client,
        lineFor(command, tag),
        command.interactive === 'terminal',
        (channel) => {
          channel.once('close', done);
          if (command.interactive === undefined) channel.end(command.stdin);
          return followChannel(channel, command, () => killTagged(tag, channel));
        },
      );
    } catch (error) {
      done();
      throw error;
    }
  }

  /** One kill at a time: they go past the queue of commands, and a connection has few channels. */
  function killTagged(tag: string, channel: ClientChannel): Promise<number[]> {
    const killed = lastKill.then(() => killNow(tag, channel));
    lastKill = killed.catch(() => []);
    return killed;
  }

  async function killNow(tag: string, channel: ClientChannel): Promise<number[]> {
    let text = '';
    const over = await openChannel(await pool.main(), quoted(killArgv(tag)), false, (killer) => {
      const closed = new Promise<void>((resolve) => killer.once('close', () => resolve()));
      killer.on('data', (chunk: Buffer) => {
        text += chunk.toString('utf8');
      });
      killer.end();
      // In an object: a promise would be waited for.
      return { wait: () => within(killMs, closed, undefined) };
    });
    await over.wait();
    channel.close();
    return parseSurvivors(text);
  }

  return { start };
}

/**
 * `follow` is called in the same moment as the channel opens: a short command's exit may be in the very packet that
 * comes next, and is not told again.
 */
function openChannel<T>(
  client: { exec: ExecFunction },
  line: string,
  pty: boolean,
  follow: (channel: ClientChannel) => T,
): Promise<T> {
  const options = pty
    ? { pty: { rows: terminalSize.rows, cols: terminalSize.columns, term: terminalEnv.TERM } }
    : {};
  return new Promise((resolve, reject) => {
    const attempt = (left: number) => {
      client.exec(line, options, (error, channel) => {
        if (error === undefined) return resolve(follow(channel));
        // "open failed": the server's limit of channels is reached for the moment; nothing has run.
        const isFull = /open failed/i.test(error.message);
        if (isFull && left > 1) return void setTimeout(() => attempt(left - 1), openPauseMs);
        reject(unavailable(error));
      });
    };
    try {
      attempt(openTries);
    } catch (error) {
      // Thrown at once when the connection is gone already.
      reject(unavailable(error));
    }
  });
}

type ExecFunction = (
  command: string,
  options: object,
  callback: (error: Error | undefined, channel: ClientChannel) => void,
) => unknown;

function unavailable(error: unknown): GatewayError {
  return new GatewayError(
    'environment_unavailable',
    `The ssh host opens no channel: ${errorMessage(error)}`,
    {
      retryable: true,
      mend: 'Look at MaxSessions of its sshd_config if this goes on.',
      cause: error,
    },
  );
}

/** The login shell there reads one line: everything in single quotes, which all shells take alike. */
function lineFor(command: CommandStart, tag: string): string {
  const env = { ...(command.interactive === 'terminal' && terminalEnv), [tagVariable]: tag };
  const words = ['env', ...Object.entries(env).map(([name, value]) => `${name}=${value}`), ...command.argv];
  const line = `exec ${quoted(words)}`;
  return command.cwd === undefined ? line : `cd ${quoted([command.cwd])} && ${line}`;
}

const quoted = (words: readonly string[]) =>
  words.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ');

function followChannel(
  channel: ClientChannel,
  command: CommandStart,
  kill: () => Promise<number[]>,
): RunningCommand {
  const ended = new Promise<void>((resolve) => {
    channel.once('close', () => resolve());
  });
  const exited = new Promise<number>((resolve, reject) => {
    channel.once('exit', (code: number | null, signal?: string) => resolve(code ?? signalCode(signal)));
    channel.once('close', () => reject(lostConnection()));
  });
  // Told to whoever follows; a failure before that must not count as unhandled.
  exited.catch(() => undefined);
  channel.on('error', () => channel.close());
  return {
    onData(listener) {
      channel.on('data', (chunk: Buffer) => listener('stdout', chunk));
      channel.stderr.on('data', (chunk: Buffer) => listener('stderr', chunk));
    },
    exited,
    ended,
    input:
      command.interactive === undefined
        ? null
        : {
            write: (data) =>
              new Promise((resolve) => {
                if (!channel.writable) return resolve(false);
                channel.write(data, (error) => resolve(error === undefined || error === null));
              }),
            end: async () => {
              channel.end();
            },
          },
    resize(columns, rows) {
      if (command.interactive === 'terminal' && channel.writable) channel.setWindow(rows, columns, 0, 0);
    },
    kill,
    release: () => channel.close(),
  };
}

function signalCode(signal: string | undefined): number {
  const number = Object.entries(constants.signals).find(([name]) => name === `SIG${signal}`)?.[1];
  return 128 + (number ?? 0);
}

function lostConnection(): GatewayError {
  return new GatewayError(
    'environment_unavailable',
    'The ssh connection was lost while the command ran; whether it ended is unknown.',
    { mend: 'The next command connects again: see first what this one did.' },
  );
}
