import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { loadHome } from './load.ts';
import { print, printJson } from './print.ts';

const stateSchema = z.looseObject({
  pid: z.number(),
  gateway_state: z.string(),
  started_at: z.string(),
  url: z.string().nullable(),
  platforms: z.array(
    z.looseObject({
      name: z.string(),
      lastAliveAt: z.number().nullable().optional(),
      state: z.looseObject({ state: z.string(), reason: z.string().optional() }),
    }),
  ),
  running_turns: z.number(),
  pending_approvals: z.number(),
  queue_depth: z.number(),
  outbox_depth: z.number(),
});

/** What the gateway last said of itself, and whether it still lives: exit 1 when it does not. */
export async function status({ json }: { json?: boolean }): Promise<void> {
  const { home } = await loadHome();
  const state = await readState(home);
  const alive = state !== null && isAlive(state.pid) && state.gateway_state !== 'stopped';
  if (!alive) process.exitCode = 1;
  if (json) return printJson(state ? { ...state, running: alive } : { running: false });
  if (!alive) return print('The gateway is not running. Start it with: npm start');
  print(`${state.gateway_state}, pid ${state.pid}, since ${state.started_at}`);
  if (state.url) print(`web chat: ${state.url}`);
  for (const { name, state: platform, lastAliveAt } of state.platforms) {
    const seen = lastAliveAt ? `, last sign of life ${new Date(lastAliveAt).toISOString()}` : '';
    print(`${name}: ${platform.state}${platform.reason ? ` (${platform.reason})` : ''}${seen}`);
  }
  print(
    `${state.running_turns} turns running, ${state.pending_approvals} approvals pending, ${state.queue_depth} sessions waiting, ${state.outbox_depth} messages to send`,
  );
}

async function readState(home: string): Promise<z.infer<typeof stateSchema> | null> {
  try {
    return stateSchema.parse(JSON.parse(await readFile(join(home, 'gateway_state.json'), 'utf8')));
  } catch {
    // Never started, or the file is being replaced by another version's.
    return null;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
