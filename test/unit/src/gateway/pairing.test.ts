import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Clock } from '../../../../src/clock.ts';
import { createPairing, type Pairing } from '../../../../src/gateway/pairing.ts';

describe('pairing', () => {
  let home = '';
  let now = 1_000_000;
  let pairing: Pairing;
  const clock: Clock = { now: () => now, after: () => () => undefined };

  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'hermes-pairing-'));
    now = 1_000_000;
    pairing = createPairing(home, clock);
  });
  afterEach(() => rm(home, { recursive: true }));

  it('lets in whoever the owner approves by code', async () => {
    const code = await pairing.request('telegram', '7', 'Ann');
    expect(code).toMatch(/^[ABCDEFGHJKLMNPQRSTUVWXYZ23456789]{8}$/);
    expect(await pairing.isApproved('telegram', '7')).toBe(false);
    expect(await pairing.approve('telegram', code ?? '')).toEqual({ userId: '7', name: 'Ann' });
    expect(await pairing.isApproved('telegram', '7')).toBe(true);
  });

  it('puts out who is revoked, at once', async () => {
    await pairing.approve('telegram', (await pairing.request('telegram', '7', 'Ann')) ?? '');
    expect(await pairing.isApproved('telegram', '7')).toBe(true);
    expect(await pairing.revoke('telegram', '7')).toBe(true);
    expect(await pairing.isApproved('telegram', '7')).toBe(false);
  });

  it('keeps codes only as hashes, in a file that nobody else reads', async () => {
    const code = await pairing.request('telegram', '7', 'Ann');
    const path = join(home, 'pairing', 'telegram.json');
    expect(await readFile(path, 'utf8')).not.toContain(code);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  it('forgets a code after an hour', async () => {
    const code = await pairing.request('telegram', '7', 'Ann');
    now += 3_600_001;
    expect(await pairing.approve('telegram', code ?? '')).toBe('wrong');
  });

  it('gives one code in ten minutes to a user, and three at a time in all', async () => {
    expect(await pairing.request('telegram', '1', 'A')).not.toBeNull();
    expect(await pairing.request('telegram', '1', 'A')).toBeNull();
    await pairing.request('telegram', '2', 'B');
    await pairing.request('telegram', '3', 'C');
    expect(await pairing.request('telegram', '4', 'D')).toBeNull();
  });

  it('locks approvals for an hour after five wrong codes', async () => {
    const code = (await pairing.request('telegram', '7', 'Ann')) ?? '';
    for (let index = 0; index < 5; index += 1) await pairing.approve('telegram', 'WRONGONE');
    expect(await pairing.approve('telegram', code)).toBe('locked');
  });
});
