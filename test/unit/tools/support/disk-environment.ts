import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Environment, EnvironmentFiles, FileStat } from '../../../../tools/environments/environment.ts';

/** An environment over a folder of this machine: real files and programs, no shell, no sessions. */
export function createDiskEnvironment(folder: string, changes: Partial<Environment> = {}): Environment {
  const unused = () => Promise.reject(new Error('not part of this environment'));
  return {
    backend: 'local',
    isolated: false,
    home: `${folder}/user`,
    defaultCwd: `${folder}/work`,
    files: diskFiles,
    cwd: () => `${folder}/work`,
    exec: unused,
    run: (argv, options) =>
      new Promise((resolve, reject) => {
        const [program = '', ...args] = argv;
        const limits = {
          timeout: options.timeoutMs,
          signal: options.signal,
          maxBuffer: options.maxBytes ?? 200_000,
        };
        const child = execFile(program, args, limits, (error, stdout, stderr) => {
          if (error && typeof error.code !== 'number') reject(error);
          else resolve({ exitCode: typeof error?.code === 'number' ? error.code : 0, stdout, stderr });
        });
        child.stdin?.on('error', () => undefined).end(options.stdin ?? '');
      }),
    spawn: unused,
    forget: () => Promise.resolve(),
    close: () => Promise.resolve(),
    ...changes,
  };
}

const kindOf = (entry: { isFile(): boolean; isDirectory(): boolean }): FileStat['kind'] =>
  entry.isFile() ? 'file' : entry.isDirectory() ? 'directory' : 'other';

const diskFiles: EnvironmentFiles = {
  async stat(path) {
    try {
      const found = await stat(path);
      return {
        kind: kindOf(found),
        bytes: found.size,
        modifiedMs: found.mtimeMs,
        realPath: await realpath(path),
      };
    } catch {
      return null;
    }
  },
  async read(path, { offset = 0, maxBytes } = {}) {
    const data = await readFile(path);
    return data.subarray(offset, maxBytes === undefined ? undefined : offset + maxBytes);
  },
  async write(path, data) {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, data);
  },
  async list(path) {
    return (await readdir(path, { withFileTypes: true })).map((entry) => ({
      name: entry.name,
      kind: kindOf(entry),
    }));
  },
  remove: (path) => rm(path),
  rename: (from, to) => rename(from, to),
};
