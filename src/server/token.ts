import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { mkdir, open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errorMessage, GatewayError } from '../errors.ts';
import { rememberSecret } from '../redact.ts';

export interface GatewayToken {
  value: string;
  origin: 'env' | 'file' | 'made';
}

const fileName = 'gateway.token';

/**
 * The secret that opens the web chat: `GATEWAY_TOKEN` when set, else the one kept in `<home>/gateway.token` (0600),
 * which the first start makes. Rejects with `config_invalid` when it can neither be read nor kept.
 */
export async function loadGatewayToken(home: string, fromEnv: string | undefined): Promise<GatewayToken> {
  const token = fromEnv?.trim()
    ? ({ value: fromEnv.trim(), origin: 'env' } as const)
    : ((await readToken(home)) ?? (await makeToken(home)));
  rememberSecret(token.value);
  return token;
}

async function readToken(home: string): Promise<GatewayToken | null> {
  try {
    const value = (await readFile(join(home, fileName), 'utf8')).trim();
    return value === '' ? null : { value, origin: 'file' };
  } catch (error) {
    if (isCode(error, 'ENOENT')) return null;
    throw unusable(home, 'read', error);
  }
}

async function makeToken(home: string): Promise<GatewayToken> {
  const value = randomBytes(32).toString('base64url');
  try {
    await mkdir(home, { recursive: true, mode: 0o700 });
    const file = await open(join(home, fileName), 'w', 0o600);
    try {
      await file.chmod(0o600);
      await file.writeFile(`${value}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
  } catch (error) {
    throw unusable(home, 'stored', error);
  }
  return { value, origin: 'made' };
}

function unusable(home: string, verb: 'read' | 'stored', cause: unknown): GatewayError {
  const path = join(home, fileName);
  return new GatewayError(
    'config_invalid',
    `The web chat's token cannot be ${verb} at ${path}: ${errorMessage(cause)}`,
    { mend: `Make ${home} writable for this user, or set GATEWAY_TOKEN.`, cause },
  );
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}

/** Whether two secrets are equal, in a time that tells nothing of where they differ. */
export function sameSecret(left: string, right: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(left), digest(right));
}
