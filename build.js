// Writes `dist`: the program in some 80 files instead of 400, which starts in two thirds of the time
// (docs/decisions/007-built-start.md). npm runs it after an install. Plain JavaScript, for any Node.
import { existsSync, readdirSync, readFileSync, rmSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';

const root = import.meta.dirname;
const dist = join(root, 'dist');
const main = join(dist, 'src', 'cli', 'main.js');
/** Packages that every start needs; the others stay packages, and are loaded when they are used. */
const bundled = /^(?:@hono\/node-server|commander|hono|pino|zod)(?:\/|$)/;

/** What is started or loaded by its path. */
const modules = {
  'src/cli/main': 'src/cli/main.ts',
  'src/approvals/judge-worker': 'src/approvals/judge-worker.ts',
};

const rolldown = await import('rolldown').catch(() => null);
if (rolldown === null) {
  console.log(
    'Nothing was built, since the packages for developers are not here: the program runs from its sources.',
  );
} else {
  const startedAt = new Date();
  const lastBuiltAt = existsSync(main) ? statSync(main).mtimeMs : 0;
  for (const folder of ['src', 'tools']) rmSync(join(dist, folder), { recursive: true, force: true });
  await rolldown.build({
    cwd: root,
    platform: 'node',
    input: { ...modules, ...toolModules() },
    external: (id, from) =>
      from !== undefined && !/^[./]/.test(id) && !bundled.test(id) && !from.includes('node_modules'),
    output: {
      dir: 'dist',
      format: 'esm',
      entryFileNames: '[name].js',
      chunkFileNames: 'chunks/[name]-[hash].js',
    },
  });
  // An edit made while it was built counts as newer.
  utimesSync(main, startedAt, startedAt);
  removeChunks(lastBuiltAt);
}

/** The chunks of the last build stay: a gateway that runs may still load some. Those of earlier ones go. */
function removeChunks(before) {
  for (const name of readdirSync(join(dist, 'chunks'))) {
    const chunk = join(dist, 'chunks', name);
    if (statSync(chunk).mtimeMs < before) rmSync(chunk);
  }
}

/** Each tool is an entry: it is discovered in `dist/tools` as it is in `tools`. */
function toolModules() {
  const names = readdirSync(join(root, 'tools')).filter((name) => name.endsWith('.ts'));
  const registering = names.filter((name) =>
    /^registry\.register\(/m.test(readFileSync(join(root, 'tools', name), 'utf8')),
  );
  return Object.fromEntries(registering.map((name) => [`tools/${name.slice(0, -3)}`, `tools/${name}`]));
}
