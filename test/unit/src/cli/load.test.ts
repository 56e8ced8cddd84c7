import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeHome } from '../../../../src/cli/load.ts';

describe('the state directory', () => {
  it('is made with all above it, for its owner alone, and may be there', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'hermes-home-'));
    try {
      const home = join(folder, 'a', 'b');
      await makeHome(home);
      await makeHome(home);
      expect((await stat(home)).mode & 0o777).toBe(0o700);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it.each(['/proc/hermes', '/dev/null/hermes'])('that cannot be made at %s is told at once', async (home) => {
    await expect(makeHome(home)).rejects.toMatchObject({
      code: 'store_unavailable',
      mend: expect.stringContaining('HERMES_HOME'),
    });
  });
});
