import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errorMessage } from '../errors.ts';
import type { Log } from '../log.ts';
import type { PlatformHealth } from './supervisor.ts';

export type GatewayState = 'starting' | 'running' | 'draining' | 'stopped' | 'startup_failed';

export interface GatewayStatus {
  pid: number;
  version: string;
  gateway_state: GatewayState;
  started_at: string;
  updated_at: string;
  url: string | null;
  platforms: readonly PlatformHealth[];
  running_turns: number;
  sessions: { idle: number; running: number; parked: number };
  pending_approvals: number;
  queue_depth: number;
  outbox_depth: number;
}

/** Keeps `<home>/gateway_state.json` current, for `status` and for people. Best effort; the last write wins. */
export function createStatusFile(home: string, log: Log): { write(status: GatewayStatus): Promise<void> } {
  const path = join(home, 'gateway_state.json');
  let writing: Promise<void> = Promise.resolve();
  return {
    write(status) {
      writing = writing.then(async () => {
        try {
          await writeFile(`${path}.new`, JSON.stringify(status, null, 2), { mode: 0o600 });
          await rename(`${path}.new`, path);
        } catch (error) {
          log.warn({ error: errorMessage(error) }, 'the status file could not be written');
        }
      });
      return writing;
    },
  };
}
