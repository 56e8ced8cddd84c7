import { StringDecoder } from 'node:string_decoder';
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

/** A background process over a transport's own channel, with input and, if asked, a terminal. */
export async function startRemoteBackground(
  transport: Transport,
  argv: readonly string[],
  { pty, mark }: { pty: boolean; mark: string },
): Promise<BackgroundStart> {
  const running = await transport.start({ argv, interactive: pty ? 'terminal' : 'pipes', merged: true });
  const backlog = createBacklog();
  const decoder = new StringDecoder('utf8');
  const unmarked = createMarkerFilter(mark, (chunk) => backlog.push(decoder.write(Buffer.from(chunk))));
  const started = new Promise<string | null>((resolve) => {
    running.onData((stream, chunk) => {
      if (stream === 'stdout') unmarked.append(chunk);
      else backlog.push(Buffer.from(chunk).toString('utf8'));
      if (unmarked.content() !== null) resolve(unmarked.content());
    });
    running.ended.then(() => resolve(unmarked.content()));
  });
  const exited = running.exited
    .catch(() => {
      backlog.push('\n[The connection to this process was lost; it may still run.]\n');
      return lostExit;
    })
    .then(async (code) => {
      await within(heldOutputMs, running.ended, undefined);
      unmarked.end();
      running.release();
      return code;
    });
  const marker = parseMarker((await within(startLimitMs, started, null)) ?? '');
  if (marker?.state !== 'started') {
    await running.kill();
    throw new GatewayError('environment_unavailable', 'The background process did not start.', {
      mend: 'Run a short command first to see whether the environment answers.',
    });
  }
  return {
    pid: Number(marker.cwd),
    startedAt: null,
    exited,
    onOutput: backlog.listen,
    write: async (data) => (await running.input?.write(data)) ?? false,
    closeInput: async () => running.input?.end(),
    resize: running.resize,
    kill: running.kill,
  };
}
