import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { parseSync } from 'oxc-parser';

export interface SourceFile {
  path: string;
  lines: number;
  /** Other files of the tree, by path from the root. */
  files: { path: string; typeOnly: boolean; lazy: boolean }[];
  /** Packages, by name. */
  packages: { name: string; typeOnly: boolean; lazy: boolean }[];
}

/** Every source file with what it imports, read from its syntax tree. */
export function readSources(): SourceFile[] {
  const paths = globSync('{src,platforms,tools,toolsets}/**/*.ts').sort();
  return paths.map((path) => {
    const text = readFileSync(path, 'utf8');
    const { module } = parseSync(path, text);
    const imports = [
      ...module.staticImports.map((entry) => ({
        name: entry.moduleRequest.value,
        typeOnly: entry.entries.length > 0 && entry.entries.every((one) => one.isType),
        lazy: false,
      })),
      ...module.staticExports.flatMap((entry) =>
        entry.entries.flatMap((one) =>
          one.moduleRequest ? [{ name: one.moduleRequest.value, typeOnly: one.isType, lazy: false }] : [],
        ),
      ),
      ...module.dynamicImports.map((entry) => ({
        name: text.slice(entry.moduleRequest.start, entry.moduleRequest.end).replace(/^['"`]|['"`]$/g, ''),
        typeOnly: false,
        lazy: true,
      })),
    ];
    const isFile = (name: string) => name.startsWith('.');
    return {
      path,
      lines: text.split('\n').length,
      files: imports
        .filter(({ name }) => isFile(name))
        .map(({ name, ...rest }) => ({ path: normalize(join(dirname(path), name)), ...rest })),
      packages: imports
        .filter(({ name }) => !isFile(name) && !name.startsWith('node:'))
        .map(({ name, ...rest }) => ({
          name: name
            .split('/')
            .slice(0, name.startsWith('@') ? 2 : 1)
            .join('/'),
          ...rest,
        })),
    };
  });
}
