import { z } from 'zod';
import type { PlatformMemory } from '../platform.ts';

/** The newest message seen in each channel, remembered over restarts: where catching up begins. */
export interface Seen {
  note(teamId: string, channel: string, ts: string): Promise<void>;
  all(): Promise<{ teamId: string; channel: string; ts: string }[]>;
}

const prefix = 'seen:';
const timestamp = z.string().regex(/^\d+\.\d+$/);

export function createSeen(memory: PlatformMemory): Seen {
  return {
    async note(teamId, channel, ts) {
      const key = `${prefix}${teamId}:${channel}`;
      const known = timestamp.safeParse(await memory.get(key));
      if (!known.success || Number(known.data) < Number(ts)) await memory.set(key, ts);
    },
    async all() {
      const entries = await memory.list(prefix);
      return entries.flatMap(({ key, value }) => {
        const [teamId = '', channel = ''] = key.slice(prefix.length).split(':');
        const ts = timestamp.safeParse(value);
        return ts.success ? [{ teamId, channel, ts: ts.data }] : [];
      });
    },
  };
}
