import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The folder of package.json. It is looked for upwards, since this file runs from `src` and, built, from below `dist`. */
export const packageRoot = upwards(import.meta.dirname);

function upwards(folder: string): string {
  return existsSync(join(folder, 'package.json')) ? folder : upwards(dirname(folder));
}

const isBuilt = import.meta.filename.endsWith('.js');

/** The folder of the code that runs: `packageRoot`, or `dist` in it. */
export const codeRoot = isBuilt ? join(packageRoot, 'dist') : packageRoot;

/** The file of a module that is loaded by its path: `src/approvals/judge-worker`. Built, it is an entry of build.js. */
export function moduleFile(name: string): string {
  return join(codeRoot, isBuilt ? `${name}.js` : `${name}.ts`);
}
