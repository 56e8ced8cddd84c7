import { chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { setEnvValues, withValue } from '../../../../src/cli/env-file.ts';

describe('the secrets in .env', () => {
  let home: string;
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'hermes-env-'));
  });
  afterEach(() => rm(home, { recursive: true, force: true }));
  const path = () => join(home, '.env');

  it('are written for their owner alone, also where the file was open to all', async () => {
    await writeFile(path(), 'A=1\n');
    await chmod(path(), 0o644);
    await setEnvValues(home, { TOKEN: 'secret' });
    expect((await stat(path())).mode & 0o777).toBe(0o600);
    expect(await readFile(path(), 'utf8')).toBe('A=1\nTOKEN=secret\n');
  });

  it('take the place of the old value and leave the rest as it is', () => {
    const before = '# mine\nexport TOKEN=old\n#TOKEN=commented\nB=2';
    expect(withValue(before, 'TOKEN', 'new')).toBe('# mine\nTOKEN=new\n#TOKEN=commented\nB=2');
  });

  it('are put at the end of a file without a last line break', () => {
    expect(withValue('A=1', 'TOKEN', 'x')).toBe('A=1\nTOKEN=x\n');
  });

  it('are refused when a line cannot hold them', () => {
    expect(() => withValue('', 'TOKEN', 'a\nB=2')).toThrow('TOKEN holds signs');
    expect(() => withValue('', 'TOKEN', '\'"`')).toThrow('TOKEN holds signs');
  });

  it('come back as they were', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (value) => {
        let text: string;
        try {
          text = withValue('A=1\n', 'TOKEN', value);
        } catch {
          fc.pre(false);
          return;
        }
        expect(parseEnv(text)).toEqual({ A: '1', TOKEN: value });
      }),
    );
  });
});
