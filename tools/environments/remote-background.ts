import { GatewayError } from '../../src/errors.ts';
import { createBacklog } from './backlog.ts';
import type { BackgroundStart } from './environment.ts';
import { createMarkerFilter } from './marker-filter.ts';
import { within } from './run-command.ts';
import { parseMarker } from './session-script.ts';
import type { Transport } from './transport.ts';

const startLimitMs = 15_000;
/** After the exit a grandchild may still hold the output: this long a wait for more. */
const heldOutputMs = 600;
/** The exit code of a process whose connection was lost: what became of it is unknown. */
const lostExit = 255;

export interface RemoteBackgroundOptions {
  pty: boolean;
  mark: string;
  /**
   * Follows the process by other means when its channel is lost, from as many bytes of its output as are known.
   * Without it the process counts as ended.
   */
  resume?(
    job: { pid: number; tag: string },
    knownBytes: number,
    onBytes: (chunk: Uint8Array) => void,
  ): Promise<number>;
}

/** A background process over a transport's own channel, with input and, if asked, a terminal. */
export async function startRemoteBackground(
  transport: Transport,
  argv: readonly string[],
  { pty, mark, resume }: RemoteBackgroundOptions,
): Promise<BackgroundStart> {
  const running = await transport.start({ argv, interactive: pty ? 'terminal' : 'pipes', merged: true });
  const backlog = createBacklog();
  const unmarked = createMarkerFilter(mark, backlog.pushBytes);
  let knownBytes = 0;
  const started = new Promise<string | null>((resolve) => {
    running.onData((stream, chunk) => {
      if (stream === 'stdout') {
        knownBytes += chunk.length;
        unmarked.append(chunk);
      } else backlog.push(Buffer.from(chunk).toString('utf8'));
      if (unmarked.content() !== null) resolve(unmarked.content());
    });
    running.ended.then(() => resolve(unmarked.content()));
  });
  const exited = running.exited
    .catch(() => {
      const job = jobOf(unmarked.content());
      if (resume !== undefined && job !== null) {
        backlog.push(
          '\n[The connection was lost: it reads no more input, and its output comes from its log.]\n',
        );
        return resume(job, knownBytes, unmarked.append);
      }
      backlog.push('\n[The connection to this process was lost; it may still run.]\n');
      return lostExit;
    })
    .then(async (code) => {
      await within(heldOutputMs, running.ended, undefined);
      unmarked.end();
      running.release();
      return code;
    });
  const job = jobOf(await within(startLimitMs, started, null));
  if (job === null) {
    await running.kill();
    throw new GatewayError('environment_unavailable', 'The background process did not start.', {
      mend: 'Run a short command first to see whether the environment answers.',
    });
  }
  return {
    pid: job.pid,
    startedAt: `${job.tag}:${mark}`,
    exited,
    onOutput: backlog.listen,
    write: async (data) => (await running.input?.write(data)) ?? false,
    closeInput: async () => running.input?.end(),
    resize: running.resize,
    kill: running.kill,
  };
}

/** What the marker of a background process tells. */
function jobOf(content: string | null): { pid: number; tag: string } | null {
  const marker = parseMarker(content ?? '');
  if (marker?.state !== 'started') return null;
  const [pid, tag = ''] = marker.cwd.split(' ');
  return { pid: Number(pid), tag };
}
