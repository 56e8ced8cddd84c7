import { createHash } from 'node:crypto';
import { closeSync, mkdirSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { type ErrorCode, errorMessage, GatewayError } from '../errors.ts';

const ownerSchema = z.object({ pid: z.number(), startedAt: z.string() });
type Owner = z.infer<typeof ownerSchema>;

/** A lock that dies with its owner: a file with the pid and the start time of the process that holds it. */
export interface Lock {
  release(): void;
}

interface LockWords {
  code: ErrorCode;
  taken(pid: number): string;
  mend: string;
}

/** One gateway a state directory. */
export function lockHome(home: string): Lock {
  return takeLock(join(home, 'gateway.pid'), {
    code: 'usage',
    taken: (pid) => `A gateway already runs on ${home} (pid ${pid}).`,
    mend: `Stop it first (kill ${'<pid>'}), or give this one a home of its own with HERMES_HOME.`,
  });
}

/** One gateway a bot token on this machine: two pollers would steal each other's messages. The file's name is a hash. */
export function lockToken(platform: string, token: string): Lock {
  const folder = join(tmpdir(), `hermes-gateway-locks-${process.getuid?.() ?? 0}`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const hash = createHash('sha256').update(`${platform}:${token}`).digest('hex').slice(0, 32);
  return takeLock(join(folder, `${platform}-${hash}.pid`), {
    code: 'token_in_use',
    taken: (pid) => `Another gateway on this machine (pid ${pid}) already uses this ${platform} bot token.`,
    mend: 'Stop the other gateway, or give this one a bot of its own.',
  });
}

/** Takes the lock file at `path`; one whose owner is gone is void. */
export function takeLock(path: string, words: LockWords): Lock {
  for (let tries = 0; tries < 3; tries += 1) {
    try {
      const file = openSync(path, 'wx', 0o600);
      writeSync(file, JSON.stringify({ pid: process.pid, startedAt: startOf(process.pid) ?? '' }));
      closeSync(file);
      return { release: () => rmSync(path, { force: true }) };
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST'))
        throw unwritable(path, error);
      const owner = readOwner(path);
      if (owner && owner.pid !== process.pid && startOf(owner.pid) === owner.startedAt) {
        throw new GatewayError(words.code, words.taken(owner.pid), {
          mend: words.mend.replace('<pid>', String(owner.pid)),
        });
      }
      // Its owner is gone, or the file was being written when it died.
      rmSync(path, { force: true });
    }
  }
  throw new GatewayError('usage', `The lock file ${path} keeps coming back.`, {
    mend: 'Look for another gateway that is starting.',
  });
}

function unwritable(path: string, cause: unknown): GatewayError {
  return new GatewayError(
    'store_unavailable',
    `The file ${path} cannot be written: ${errorMessage(cause)}.`,
    {
      mend: `Make ${dirname(path)} writable for this user, with some space left, or choose another folder with HERMES_HOME.`,
      cause,
    },
  );
}

function readOwner(path: string): Owner | null {
  try {
    return ownerSchema.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch {
    // Gone meanwhile, or half written by a process that died.
    return null;
  }
}

/** What tells a process from a later one with its pid: the start time in clock ticks, where the system shows it. */
function startOf(pid: number): string | null {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ESRCH') return null;
  }
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
  } catch {
    // No /proc here (macOS): the pid alone has to do.
    return '';
  }
}
