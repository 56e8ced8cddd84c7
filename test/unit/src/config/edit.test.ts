import { lstat, readFile, rename, stat, symlink } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { addToList, readTypedValue, removeFromList, setConfigValue } from '../../../../src/config/edit.ts';
import { testHome } from './home.ts';

const optionsOf = (home: { path: string }) => ({ home: home.path, env: {} });

describe('setting a key', () => {
  test('keeps comments, order and other keys, known or not', async () => {
    await using home = await testHome(
      '# mine\napprovals:\n  timeout: 60 # a minute\n  mode: manual\nmy_key: 1\n',
    );
    const { config } = await setConfigValue(optionsOf(home), 'approvals.timeout', 120);
    expect(config.approvals.timeout).toBe(120);
    expect(await readFile(home.yaml, 'utf8')).toBe(
      '# mine\napprovals:\n  timeout: 120 # a minute\n  mode: manual\nmy_key: 1\n',
    );
  });

  test('makes the file and its blocks, readable by the owner alone', async () => {
    await using home = await testHome();
    await setConfigValue(optionsOf(home), 'telegram.allowed_users', ['1', '2']);
    expect((await home.load()).config.telegram.allowed_users).toEqual(['1', '2']);
    expect((await stat(home.yaml)).mode & 0o777).toBe(0o600);
  });

  test('works in an empty block', async () => {
    await using home = await testHome('telegram:\n');
    await setConfigValue(optionsOf(home), 'telegram.pace', 'off');
    expect((await home.load()).config.telegram.pace).toBe('off');
  });

  test('of a wrong kind is refused and changes nothing', async () => {
    await using home = await testHome('approvals: {timeout: 60}\n');
    const outcome = setConfigValue(optionsOf(home), 'approvals.timeout', 'soon');
    await expect(outcome).rejects.toMatchObject({ code: 'config_invalid' });
    expect(await readFile(home.yaml, 'utf8')).toBe('approvals: {timeout: 60}\n');
  });

  test('that is not known is refused with the likely name', async () => {
    await using home = await testHome();
    const outcome = setConfigValue(optionsOf(home), 'approvals.timout', 1);
    await expect(outcome).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringContaining('approvals.timeout?'),
    });
  });

  test('in a broken file is refused, and the file is left alone', async () => {
    await using home = await testHome('a: [\n');
    await expect(setConfigValue(optionsOf(home), 'edits', 'rerun')).rejects.toMatchObject({
      code: 'config_invalid',
    });
    expect(await readFile(home.yaml, 'utf8')).toBe('a: [\n');
  });

  test('writes through a symbolic link', async () => {
    await using home = await testHome('edits: ignore\n');
    await rename(home.yaml, `${home.path}/real.yaml`);
    await symlink('real.yaml', home.yaml);
    await setConfigValue(optionsOf(home), 'edits', 'rerun');
    expect((await lstat(home.yaml)).isSymbolicLink()).toBe(true);
    expect(await readFile(`${home.path}/real.yaml`, 'utf8')).toBe('edits: rerun\n');
  });

  test('typed on a command line has the kind that YAML gives it', async () => {
    expect(await Promise.all(['5', 'true', '[a, b]', 'off', 'a: b'].map(readTypedValue))).toEqual([
      5,
      true,
      ['a', 'b'],
      'off',
      { a: 'b' },
    ]);
  });
});

describe('the allowlist', () => {
  test('is what is on disk and what is new, sorted, once each, with its comments', async () => {
    await using home = await testHome(
      '# allowed\ncommand_allowlist:\n  - npm ci # the build\n  - git push\nedits: rerun # always\n',
    );
    await addToList(optionsOf(home), 'command_allowlist', ['ls', 'git push']);
    expect(await readFile(home.yaml, 'utf8')).toBe(
      '# allowed\ncommand_allowlist:\n  - git push\n  - ls\n  - npm ci # the build\nedits: rerun # always\n',
    );
  });

  test('may have been one text', async () => {
    await using home = await testHome('command_allowlist: "rm -rf {a,b}"\n');
    await addToList(optionsOf(home), 'command_allowlist', ['ls']);
    expect((await home.load()).config.command_allowlist).toEqual(['ls', 'rm -rf {a,b}']);
  });

  test('keeps texts that YAML would read as something else', async () => {
    await using home = await testHome();
    const odd = ['true', '5', '- x', '# y', 'a: b', '* *', 'it"s\nnew', '"', "'"];
    await addToList(optionsOf(home), 'command_allowlist', odd);
    expect(new Set((await home.load()).config.command_allowlist)).toEqual(new Set(odd));
  });

  test('loses nothing when several are added at once', async () => {
    await using home = await testHome('command_allowlist: []\n');
    const entries = Array.from({ length: 20 }, (_, i) => `cmd ${i}`);
    await Promise.all(entries.map((entry) => addToList(optionsOf(home), 'command_allowlist', [entry])));
    expect((await home.load()).config.command_allowlist).toEqual([...entries].sort());
  });

  test('forgets an entry, and says whether it was there', async () => {
    await using home = await testHome('command_allowlist: [a, b]\n');
    expect(await removeFromList(optionsOf(home), 'command_allowlist', 'a')).toBe(true);
    expect(await removeFromList(optionsOf(home), 'command_allowlist', 'a')).toBe(false);
    expect((await home.load()).config.command_allowlist).toEqual(['b']);
  });
});
