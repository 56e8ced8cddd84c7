import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { idleKeys, idleSettings } from '../../../../src/cli/idle-keys.ts';
import { allKeys } from '../../../../src/config/shape.ts';

const isIdle = (path: string) => idleKeys.some((key) => path === key || path.startsWith(`${key}.`));

describe('keys that nothing reads yet', () => {
  it('exist', () => {
    const known = allKeys();
    const strange = idleKeys.filter(
      (key) => !known.some((path) => path === key || path.startsWith(`${key}.`)),
    );
    expect(strange).toEqual([]);
  });

  it('are all of those whose names stand nowhere in the code', () => {
    const files = globSync('{src,platforms,tools,toolsets}/**/*.ts').filter(
      (file) => !/^src.(?:config.(?:blocks|env|schema)|cli.idle-keys)/.test(file),
    );
    const words = new Set(files.flatMap((file) => readFileSync(file, 'utf8').match(/\w+/g) ?? []));
    const unread = allKeys().filter((path) => !words.has(path.split('.').at(-1) ?? ''));
    expect(files.length).toBeGreaterThan(200);
    expect(unread.filter((path) => !isIdle(path))).toEqual([]);
  });

  it('and no others are said to have no effect in config.example.yaml', () => {
    expect(new Set(saidIdle(readFileSync('config.example.yaml', 'utf8')))).toEqual(new Set(idleKeys));
  });

  it('are told when they are set, with their place', () => {
    const told = idleSettings({
      env: {},
      sources: { redis_url: 'REDIS_URL', 'delegation.model': 'config.yaml', 'approvals.mode': 'config.yaml' },
    });
    expect(told).toEqual([
      'redis_url (REDIS_URL) has no effect: what it stands for is not built in yet.',
      'delegation.model (config.yaml) has no effect: what it stands for is not built in yet.',
    ]);
  });

  it('go with variables that do nothing: each is told with the reason, and not with its value', () => {
    const told = idleSettings({ sources: {}, env: { SUDO_PASSWORD: 'hunter2', DOCKER_HOST: 'x' } });
    expect(told).toEqual([expect.stringMatching(/^SUDO_PASSWORD has no effect.*NOPASSWD/)]);
    expect(told.join()).not.toContain('hunter2');
  });
});

/** Dotted paths of the lines that bear the remark; two spaces a level. */
function saidIdle(example: string): string[] {
  const path: string[] = [];
  return example.split('\n').flatMap((line) => {
    const { indent = '', key } = line.match(/^(?<indent> *)(?<key>[a-z_]+):/)?.groups ?? {};
    if (key === undefined) return [];
    path.splice(indent.length / 2, path.length, key);
    return line.includes('no effect yet') ? [path.join('.')] : [];
  });
}
