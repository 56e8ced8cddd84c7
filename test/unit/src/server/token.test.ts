import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { redactSecrets } from '../../../../src/redact.ts';
import { loadGatewayToken } from '../../../../src/server/token.ts';

describe('the gateway token', () => {
  let home: string;
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'hermes-token-'));
  });
  afterEach(() => rm(home, { recursive: true }));

  it('is made on the first start, kept for its owner alone, and the same on the next', async () => {
    const first = await loadGatewayToken(home, undefined);
    expect(first).toEqual({ origin: 'made', value: expect.stringMatching(/^[\w-]{43}$/) });
    expect((await stat(join(home, 'gateway.token'))).mode & 0o777).toBe(0o600);
    expect(await loadGatewayToken(home, undefined)).toEqual({ origin: 'file', value: first.value });
  });

  it('comes from the environment when set there, and is not stored then', async () => {
    expect(await loadGatewayToken(home, ' from-env-token ')).toEqual({
      origin: 'env',
      value: 'from-env-token',
    });
    await expect(readFile(join(home, 'gateway.token'))).rejects.toThrow('ENOENT');
  });

  it('is blacked out of everything that is printed', async () => {
    const { value } = await loadGatewayToken(home, undefined);
    expect(redactSecrets(`see ${value}`)).toBe('see [redacted]');
  });

  it('says what to do when it cannot be kept', async () => {
    await writeFile(join(home, 'file'), '');
    await expect(loadGatewayToken(join(home, 'file', 'home'), undefined)).rejects.toMatchObject({
      code: 'config_invalid',
      mend: expect.stringContaining('GATEWAY_TOKEN'),
    });
  });
});
