import { describe, expect, it } from 'vitest';
import { readSources, type SourceFile } from './imports.ts';

const sources = readSources();
const within = (folder: string) => (path: string) => path.startsWith(`${folder}/`);

/** What a folder must never import, types included. */
const forbidden: { from: string; to: string[] }[] = [
  { from: 'platforms', to: ['tools', 'toolsets', 'src/gateway', 'src/agent', 'src/store', 'src/cli'] },
  { from: 'tools', to: ['platforms', 'toolsets', 'src/gateway', 'src/agent', 'src/store', 'src/cli'] },
  { from: 'toolsets', to: ['platforms', 'tools', 'src'] },
  { from: 'src/agent', to: ['platforms', 'src/gateway', 'src/cli'] },
  { from: 'src/approvals', to: ['src/gateway', 'src/agent', 'src/cli', 'tools'] },
  { from: 'src/model', to: ['platforms', 'tools', 'src/gateway', 'src/agent', 'src/store', 'src/cli'] },
  { from: 'src/store', to: ['src/gateway', 'src/agent', 'src/cli'] },
  { from: 'src/config', to: ['platforms', 'tools', 'src/gateway', 'src/agent', 'src/store', 'src/cli'] },
  { from: 'src/server', to: ['src/gateway', 'src/agent', 'src/store', 'tools', 'src/cli'] },
  { from: 'src/gateway', to: ['src/cli'] },
  ...['telegram', 'discord', 'slack', 'web', 'cli'].map((name, _index, all) => ({
    from: `platforms/${name}`,
    to: all.filter((other) => other !== name).map((other) => `platforms/${other}`),
  })),
];

/** Heavy or dangerous packages have one owner each. */
const owners: { readonly [name: string]: string | readonly string[] } = {
  grammy: 'platforms/telegram/',
  '@grammyjs/runner': 'platforms/telegram/',
  '@grammyjs/auto-retry': 'platforms/telegram/',
  'discord.js': 'platforms/discord/',
  '@slack/bolt': 'platforms/slack/',
  unbash: 'src/approvals/shell/parse.ts',
  dockerode: 'tools/environments/',
  ssh2: 'tools/environments/',
  '@lydell/node-pty': 'tools/environments/',
  marked: 'platforms/format/',
  commander: 'src/cli/',
  hono: 'src/server/',
  yaml: ['src/config/', 'tools/files/syntax-check.ts'],
  'oxc-parser': 'tools/syntax-tree.ts',
};

describe('the architecture', () => {
  it('sees the whole tree', () => {
    expect(sources.length).toBeGreaterThan(150);
  });

  it.each(forbidden)('$from never imports $to', ({ from, to }) => {
    const wrong = sources
      .filter((source) => within(from)(source.path))
      .flatMap((source) =>
        source.files
          .filter((file) => to.some((folder) => within(folder)(file.path)))
          .map((file) => `${source.path} → ${file.path}`),
      );
    expect(wrong).toEqual([]);
  });

  it.each(Object.entries(owners))('%s is imported only by %s', (name, owner) => {
    const wrong = sources.filter(
      (source) =>
        ![owner].flat().some((place) => source.path.startsWith(place)) &&
        source.packages.some((one) => one.name === name),
    );
    expect(wrong.map((source) => source.path)).toEqual([]);
  });

  it('imports the client libraries of platforms and backends only when they are used', () => {
    const heavy = [
      'grammy',
      'discord.js',
      '@slack/bolt',
      'dockerode',
      'ssh2',
      '@lydell/node-pty',
      'oxc-parser',
    ];
    const roots = ['src/cli/main.ts', 'src/cli/start.ts'];
    const eager = reachable(roots);
    const wrong = sources.filter(
      (source) =>
        eager.has(source.path) &&
        source.packages.some((one) => heavy.includes(one.name) && !one.lazy && !one.typeOnly),
    );
    expect(wrong.map((source) => source.path)).toEqual([]);
  });

  it('has no import cycle', () => {
    expect(findCycle(sources)).toBeNull();
  });

  it('has no file over 500 lines', () => {
    expect(
      sources.filter((source) => source.lines > 500).map((source) => `${source.path}: ${source.lines}`),
    ).toEqual([]);
  });
});

function eagerImports(source: SourceFile): string[] {
  return source.files.filter((file) => !file.lazy && !file.typeOnly).map((file) => file.path);
}

function reachable(roots: readonly string[]): Set<string> {
  const byPath = new Map(sources.map((source) => [source.path, source]));
  const seen = new Set<string>();
  const queue = [...roots];
  for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
    if (seen.has(path)) continue;
    seen.add(path);
    const source = byPath.get(path);
    if (source) queue.push(...eagerImports(source));
  }
  return seen;
}

function findCycle(files: readonly SourceFile[]): string[] | null {
  const byPath = new Map(files.map((source) => [source.path, source]));
  const done = new Set<string>();
  const walk = (path: string, trail: string[]): string[] | null => {
    const at = trail.indexOf(path);
    if (at >= 0) return [...trail.slice(at), path];
    const source = byPath.get(path);
    if (!source || done.has(path)) return null;
    for (const next of eagerImports(source)) {
      const cycle = walk(next, [...trail, path]);
      if (cycle) return cycle;
    }
    done.add(path);
    return null;
  };
  for (const source of files) {
    const cycle = walk(source.path, []);
    if (cycle) return cycle;
  }
  return null;
}
