#!/usr/bin/env node
// Plain JavaScript, for any Node: it runs the program on Node 24, whose binary npm brought along where the
// machine's own is older.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import module from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const wanted = 24;

if (Number(process.versions.node.split('.')[0]) >= wanted) {
  // Compiled code is kept beside the packages: the second start is several times faster than the first.
  module.enableCompileCache?.(join(root, 'node_modules', '.cache', 'hermes-gateway'));
  const built = join(root, 'dist', 'src', 'cli', 'main.js');
  const source = join(root, 'src', 'cli', 'main.ts');
  await import(pathToFileURL(existsSync(source) ? source : built).href);
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
