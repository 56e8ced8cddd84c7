import { createHash, randomInt, timingSafeEqual } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { Clock } from '../clock.ts';
import { errorMessage, GatewayError } from '../errors.ts';

/** No 0/O and 1/I: the code is read aloud and typed. */
const alphabet = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789';
const codeLength = 8;
const codeLifeMs = 3_600_000;
const requestPauseMs = 600_000;
const maxPending = 3;
const maxWrong = 5;
const lockOutMs = 3_600_000;

const fileSchema = z.object({
  approved: z.array(z.object({ userId: z.string(), name: z.string(), at: z.number() })).default([]),
  pending: z
    .array(z.object({ userId: z.string(), name: z.string(), codeHash: z.string(), at: z.number() }))
    .default([]),
  wrong: z.object({ count: z.number(), lockedUntil: z.number() }).default({ count: 0, lockedUntil: 0 }),
});
type PairingFile = z.infer<typeof fileSchema>;

/**
 * Lets a stranger in by a code that the owner types on the host. Codes are stored as hashes; files are 0600 under
 * `<home>/pairing/`, one a platform, read again at each use so that a revocation counts at once.
 */
export interface Pairing {
  isApproved(platform: string, userId: string): Promise<boolean>;
  /** A code to show, or null when none may be given now (asked too often, too many pending). */
  request(platform: string, userId: string, name: string): Promise<string | null>;
  approve(platform: string, code: string): Promise<{ userId: string; name: string } | 'wrong' | 'locked'>;
  revoke(platform: string, userId: string): Promise<boolean>;
  list(
    platform: string,
  ): Promise<{ approved: PairingFile['approved']; pending: { userId: string; name: string; at: number }[] }>;
}

export function createPairing(home: string, clock: Clock): Pairing {
  const folder = join(home, 'pairing');
  const cache = new Map<string, { approved: Set<string>; readAt: number }>();

  async function load(platform: string): Promise<PairingFile> {
    const path = join(folder, `${platform}.json`);
    try {
      return fileSchema.parse(JSON.parse(await readFile(path, 'utf8')));
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return fileSchema.parse({});
      throw new GatewayError(
        'config_invalid',
        `The pairing file ${path} cannot be read: ${errorMessage(error)}.`,
        {
          mend: 'Make it readable by the gateway, or delete it and pair again. Until then nobody is let in by it.',
          cause: error,
        },
      );
    }
  }

  async function save(platform: string, file: PairingFile): Promise<void> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const path = join(folder, `${platform}.json`);
    await writeFile(`${path}.new`, JSON.stringify(file, null, 2), { mode: 0o600 });
    await rename(`${path}.new`, path);
    cache.delete(platform);
  }

  return {
    async isApproved(platform, userId) {
      const now = clock.now();
      let known = cache.get(platform);
      if (!known || now - known.readAt > 1_000) {
        known = {
          approved: new Set((await load(platform)).approved.map((user) => user.userId)),
          readAt: now,
        };
        cache.set(platform, known);
      }
      return known.approved.has(userId);
    },
    async request(platform, userId, name) {
      const file = await load(platform);
      const now = clock.now();
      const live = file.pending.filter((request) => now - request.at < codeLifeMs);
      const asked = live.find((request) => request.userId === userId);
      if (asked && now - asked.at < requestPauseMs) return null;
      const others = live.filter((request) => request.userId !== userId);
      if (others.length >= maxPending) return null;
      const code = Array.from({ length: codeLength }, () => alphabet[randomInt(alphabet.length)]).join('');
      await save(platform, {
        ...file,
        pending: [...others, { userId, name, codeHash: hashOf(code), at: now }],
      });
      return code;
    },
    async approve(platform, code) {
      const file = await load(platform);
      const now = clock.now();
      if (file.wrong.lockedUntil > now) return 'locked';
      const offered = Buffer.from(hashOf(code.trim().toUpperCase()));
      const match = file.pending.find(
        (request) => now - request.at < codeLifeMs && timingSafeEqual(Buffer.from(request.codeHash), offered),
      );
      if (!match) {
        const count = file.wrong.count + 1;
        const locked = count >= maxWrong;
        await save(platform, {
          ...file,
          wrong: { count: locked ? 0 : count, lockedUntil: locked ? now + lockOutMs : 0 },
        });
        return 'wrong';
      }
      const approved = [
        ...file.approved.filter((user) => user.userId !== match.userId),
        { userId: match.userId, name: match.name, at: now },
      ];
      const pending = file.pending.filter((request) => request !== match);
      await save(platform, { approved, pending, wrong: { count: 0, lockedUntil: 0 } });
      return { userId: match.userId, name: match.name };
    },
    async revoke(platform, userId) {
      const file = await load(platform);
      const approved = file.approved.filter((user) => user.userId !== userId);
      if (approved.length === file.approved.length) return false;
      await save(platform, { ...file, approved });
      return true;
    },
    async list(platform) {
      const file = await load(platform);
      const pending = file.pending.filter((request) => clock.now() - request.at < codeLifeMs);
      return {
        approved: file.approved,
        pending: pending.map(({ userId, name, at }) => ({ userId, name, at })),
      };
    },
  };
}

function hashOf(code: string): string {
  return createHash('sha256').update(code).digest('hex');
}
