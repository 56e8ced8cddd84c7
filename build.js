// Writes `dist`: the program in some 80 files instead of 400, which starts in two thirds of the time
// (docs/decisions/007-built-start.md). npm runs it after an install. Plain JavaScript, for any Node.
import { readdirSync, readFileSync, rmSync, utimesSync } from 'node:fs';
import { join } from 'node:path';

const root = import.meta.dirname;
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
  rmSync(join(root, 'dist'), { recursive: true, force: true });
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
  utimesSync(join(root, 'dist', 'src', 'cli', 'main.js'), startedAt, startedAt);
}

/** Each tool is an entry: it is discovered in `dist/tools` as it is in `tools`. */
function toolModules() {
  const names = readdirSync(join(root, 'tools')).filter((name) => name.endsWith('.ts'));
  const registering = names.filter((name) =>
    /^registry\.register\(/m.test(readFileSync(join(root, 'tools', name), 'utf8')),
  );
  return Object.fromEntries(registering.map((name) => [`tools/${name.slice(0, -3)}`, `tools/${name}`]));
}
