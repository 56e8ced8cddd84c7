import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';

const pages = ['README.md', 'CONTRIBUTING.md', ...globSync('docs/**/*.md')];

describe('the documentation', () => {
  it.each(pages)('%s links to nothing that is not there', (page) => {
    const links = [...readFileSync(page, 'utf8').matchAll(/\]\((?<to>[^)#\s]+)(?:#[^)]*)?\)/g)];
    const missing = links
      .map((link) => link.groups?.['to'] ?? '')
      .filter((to) => !/^(?:https?|mailto|tg):|^javascript:/.test(to))
      .filter((to) => !existsSync(join(dirname(page), to)));
    expect(missing).toEqual([]);
  });
});
