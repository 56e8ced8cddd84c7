import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createCli } from '../../platforms/cli/cli.ts';
import { systemClock } from '../clock.ts';
import { type Lock, takeLock } from '../gateway/locks.ts';
import { createLog } from '../log.ts';
import { assemble } from './assemble.ts';
import { loadHome, makeHome } from './load.ts';
import type { ChatFlags } from './main.ts';

const drainMs = 2_000;

/**
 * `chat`: the same agent in this terminal. It keeps its conversation in a file of its own, so that it can run beside
 * the gateway; a one-shot question leaves nothing behind, and ends with 1 when its turn
 * failed or was stopped.
 */
export async function chat({ query, toolsets }: ChatFlags): Promise<void> {
  const loaded = await loadHome();
  await makeHome(loaded.home);
  const log = createLog('error');
  const place = await statePlace(loaded.home, query !== undefined);
  const { stdin: input, stdout: output, stderr: errorOutput } = process;
  const cli = createCli(
    { input, output, errorOutput, ...(query !== undefined && { query }) },
    { clock: systemClock, log },
  );
  let isAnswered = true;
  const { gateway, close } = await assemble({
    loaded,
    log,
    statePath: place.path,
    platforms: async () => new Map([[cli.name, cli]]),
    toolsets: toolsets ?? [],
    sandbox: query === undefined ? 'chat' : 'once',
    yolo: process.env['HERMES_YOLO_MODE'] === '1',
    onChange: () => undefined,
    onTurnEnded: (_platform, outcome) => {
      isAnswered = outcome === 'done';
    },
  }).catch(async (error: unknown) => {
    await place.leave();
    throw error;
  });
  await gateway.start();
  await cli.finished;
  await gateway.stop(drainMs);
  await close();
  await place.leave();
  process.exit(query === undefined || isAnswered ? 0 : 1);
}

async function statePlace(home: string, oneShot: boolean): Promise<{ path: string; leave(): Promise<void> }> {
  if (oneShot) {
    const folder = await mkdtemp(join(tmpdir(), 'hermes-chat-'));
    return { path: join(folder, 'state.db'), leave: () => rm(folder, { recursive: true, force: true }) };
  }
  const lock: Lock = takeLock(join(home, 'chat.pid'), {
    code: 'usage',
    taken: (pid) => `Another chat is open on ${home} (pid ${pid}).`,
    mend: 'Close it first, or ask once with: hermes-gateway chat -q "…"',
  });
  return { path: join(home, 'chat.db'), leave: async () => lock.release() };
}
