import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { resolveHome } from '../config/env.ts';
import { hasCode } from '../config/files.ts';
import { type LoadedConfig, loadConfig } from '../config/load.ts';
import { errorMessage, GatewayError } from '../errors.ts';
import { idleSettings } from './idle-keys.ts';

export interface Loaded extends LoadedConfig {
  home: string;
}

/** The state directory and the configuration that a command works with. */
export async function loadHome(
  options: { file?: string; flags?: Record<string, unknown> } = {},
): Promise<Loaded> {
  const home = resolveHome(process.env);
  const loaded = await loadConfig({ home, env: process.env, ...options });
  return { home, ...loaded, warnings: [...loaded.warnings, ...idleSettings(loaded)] };
}

/** Makes the state directory, 0700. */
export async function makeHome(home: string): Promise<void> {
  try {
    await makeFolder(home);
  } catch (error) {
    throw new GatewayError(
      'store_unavailable',
      `The state directory ${home} cannot be made: ${errorMessage(error)}.`,
      {
        mend: 'Set HERMES_HOME to a folder that this user can write.',
        cause: error,
      },
    );
  }
}

/** Node's own recursive `mkdir` never ends where a folder that is there can hold no new one (`/proc/x`). */
async function makeFolder(path: string): Promise<void> {
  if (!existsSync(dirname(path))) await makeFolder(dirname(path));
  try {
    await mkdir(path, { mode: 0o700 });
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
  }
}
