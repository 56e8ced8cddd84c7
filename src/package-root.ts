import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The folder of package.json. It is looked for upwards, since this file runs from `src` and, built, from below `dist`. */
export const packageRoot = upwards(import.meta.dirname);

function upwards(folder: string): string {
  return existsSync(join(folder, 'package.json')) ? folder : upwards(dirname(folder));
}
