#!/usr/bin/env node
// Plain JavaScript, for any Node: it runs the program on Node 24, whose binary npm brought along where the
// machine's own is older.
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import module from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const wanted = 24;
const built = join(root, 'dist', 'src', 'cli', 'main.js');

if (Number(process.versions.node.split('.')[0]) >= wanted) {
  // Compiled code is kept beside the packages: the second start is several times faster than the first.
  module.enableCompileCache?.(join(root, 'node_modules', '.cache', 'hermes-gateway'));
  await import(pathToFileURL(isBuilt() ? built : join(root, 'src', 'cli', 'main.ts')).href);
} else {
  const node = [
    join(root, 'node_modules', '.bin', 'node'),
    join(root, 'node_modules', `node-${process.platform}-${process.arch}`, 'bin', 'node'),
  ].find((path) => existsSync(path));
  if (node === undefined) {
    console.error(
      `hermes-gateway needs Node ${wanted} or newer; this is ${process.version}, and npm has no binary for ${process.platform}-${process.arch}.\n` +
        `Install Node ${wanted} from https://nodejs.org and run this again.`,
    );
    process.exit(78);
  }
  const child = spawn(node, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], { stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => process.exit(code ?? (signal ? 1 : 0)));
}

/** Whether what was built is newer than every source: an edit, a pull or a removal shows in the times of files and folders. */
function isBuilt() {
  const time = (path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const builtAt = time(built);
  const isOlder = (folder) =>
    time(folder) < builtAt &&
    readdirSync(folder, { withFileTypes: true }).every((entry) => {
      const path = join(folder, entry.name);
      return entry.isDirectory() ? isOlder(path) : time(path) < builtAt;
    });
  return ['src', 'platforms', 'tools', 'toolsets'].every((name) => isOlder(join(root, name)));
}
