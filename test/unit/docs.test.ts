import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';

const pages = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', ...globSync('docs/**/*.md')];
const read = (page: string) => readFileSync(page, 'utf8');
const sources = globSync('{bin,platforms,src,test,tools,toolsets}/**/*.ts');
const folders = 'bin|docs|platforms|src|test|tools|toolsets';

describe('the documentation', () => {
  it.each(pages)('%s links to nothing that is not there', (page) => {
    const links = [...read(page).matchAll(/\]\((?<to>[^)#\s]+)(?:#[^)]*)?\)/g)];
    const missing = links
      .map((link) => link.groups?.['to'] ?? '')
      .filter((to) => !/^(?:https?|mailto|tg):|^javascript:/.test(to))
      .filter((to) => !existsSync(join(dirname(page), to)));
    expect(missing).toEqual([]);
  });

  // Decisions are frozen: they may name what was there when they were made.
  it.each(pages.filter((page) => !/decisions/.test(page)))('%s names no path that is not there', (page) => {
    const paths = [...read(page).matchAll(new RegExp(`\`((?:${folders})/[\\w./<>*-]+)\``, 'g'))];
    expect(paths.map(([, path = '']) => path).filter((path) => !isThere(path))).toEqual([]);
  });

  it.each(pages)('%s names no TypeScript file by its last words that is not there', (page) => {
    const named = [...read(page).matchAll(/`([\w/<>*.-]+\.ts)`/g)].map(([, path = '']) => path);
    const loose = named.filter((path) => !path.startsWith('../') && !/[<*]/.test(path));
    const missing = loose.filter((path) => !sources.some((source) => `/${source}`.endsWith(`/${path}`)));
    expect(missing).toEqual([]);
  });

  it.each(pages)('%s names no command that does not exist', (page) => {
    const known = commandNames(read('src/cli/main.ts'));
    const named = [...read(page).matchAll(/(?:^|[`$] ?|npx )hermes-gateway ([a-z][a-z-]*)/gm)];
    expect(named.map(([, name = '']) => name).filter((name) => !known.has(name))).toEqual([]);
    expect(known.size).toBeGreaterThan(10);
  });

  it.each(pages)('%s names no npm script that does not exist', (page) => {
    const { scripts } = JSON.parse(read('package.json'));
    const named = [...read(page).matchAll(/`npm run ([\w-]+)/g)];
    expect(named.map(([, name = '']) => name).filter((name) => !(name in scripts))).toEqual([]);
  });
});

describe('the recipes of CONTRIBUTING.md', () => {
  const recipes = read('CONTRIBUTING.md').match(/^\| an? .*$/gm) ?? [];

  it.each(recipes)('name files that are there: %s', (recipe) => {
    const named = [...recipe.matchAll(/`([\w./<>-]*[\w>](?:\.ts|\/|\.yaml))`/g)].map(([, path = '']) => path);
    const folder = named.find((path) => path.endsWith('/')) ?? '';
    const missing = named.filter((path) => !isThere(path) && !isThere(join(folder, basename(path))));
    expect(named.length).toBeGreaterThan(0);
    expect(missing).toEqual([]);
  });

  it('are as many as there are things to add', () => {
    expect(recipes.length).toBeGreaterThanOrEqual(7);
  });
});

/** A placeholder such as `<name>` stands for anything. */
function isThere(path: string): boolean {
  return globSync(path.replaceAll(/<\w+>/g, '*')).length > 0;
}

/** Top-level commands, read from the text: importing the file would run it. */
function commandNames(main: string): ReadonlySet<string> {
  return new Set([...main.matchAll(/program\s*\.command\('(\w+)/g)].map(([, name = '']) => name));
}
