import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { takeMedia } from '../../../src/gateway/turn/media-out.ts';
import { redactSecrets } from '../../../src/redact.ts';

describe('an answer attaches no secret of the gateway', () => {
  let folder = '';
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'hermes-leaks-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));
  const attached = async (path: string, home = folder) => (await takeMedia(`MEDIA:${path}`, home)).files;

  it.runIf(process.platform === 'linux')('not the environment of its own process', async () => {
    expect(await attached('/proc/self/environ')).toEqual([]);
  });

  it('not a device that never ends', async () => {
    expect(await attached('/dev/zero')).toEqual([]);
  });

  it('not the files of a home that is reached by a link', async () => {
    const real = join(folder, 'real');
    const home = join(folder, 'home');
    await mkdir(real);
    await symlink(real, home);
    await writeFile(join(real, 'gateway.token'), 'x');
    expect(await attached(join(home, 'gateway.token'), home)).toEqual([]);
  });
});

describe('a text that a stranger chose', () => {
  it.each([
    ['beginnings of tokens', 'eyJ-'.repeat(50_000)],
    ['beginnings of keys', '-----BEGIN PRIVATE KEY-----'.repeat(7_000)],
    ['a long beginning of a key', `-----BEGIN ${'A '.repeat(100_000)}`],
  ])('holds the process up for no longer than its length asks for: %s', (_name, text) => {
    const before = performance.now();
    redactSecrets(text);
    // Quadratic work on these takes many seconds.
    expect(performance.now() - before).toBeLessThan(1_000);
  });
});
