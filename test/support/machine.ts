import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** The inside of an emulated sandbox: a private folder of this machine, and the processes that were started in it. */
export interface Machine {
  folder: string;
  /** Where commands start, and the home of whoever runs them. */
  home: string;
  /** Starts a program, with its streams apart. */
  start(argv: readonly string[], options?: Pick<MachineRun, 'cwd' | 'env'>): ChildProcessWithoutNullStreams;
  /** Runs a program to its end, or to its limit (exit code null). Resolves when all that holds its output has closed it. */
  run(argv: readonly string[], options?: MachineRun): Promise<{ exitCode: number | null; output: string }>;
  write(path: string, data: Uint8Array): Promise<void>;
  /** Ends every process; the files stay. */
  stop(): Promise<void>;
  /** A copy of its files, for a machine that starts from them. */
  save(folder: string): Promise<void>;
  remove(): Promise<void>;
}

interface MachineRun {
  stdin?: string;
  cwd?: string;
  env?: Readonly<Record<string, string>>;
  timeoutMs?: number;
}

/** Every process of a machine has this variable, wherever it went. */
const markVariable = 'EMULATED_MACHINE';

/** `image`: a folder whose files it starts from. */
export async function createMachine(folder: string, image?: string): Promise<Machine> {
  const mark = randomBytes(8).toString('hex');
  const home = join(folder, 'home');
  if (image !== undefined) await cp(image, folder, { recursive: true, verbatimSymlinks: true });
  await mkdir(home, { recursive: true });
  await mkdir(join(folder, 'tmp'), { recursive: true });
  const base = {
    PATH: process.env['PATH'] ?? '/usr/local/bin:/usr/bin:/bin',
    HOME: home,
    TMPDIR: join(folder, 'tmp'),
    LANG: 'C.UTF-8',
    [markVariable]: mark,
  };

  async function stop(): Promise<void> {
    for (;;) {
      const pids = await processesWith(`${markVariable}=${mark}`);
      if (pids.length === 0) return;
      for (const pid of pids) killIfThere(pid);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  const start: Machine['start'] = ([program = '', ...args], { cwd = home, env = {} } = {}) =>
    spawn(program, args, { cwd, env: { ...base, ...env }, detached: true });

  return {
    folder,
    home,
    start,
    run(argv, { stdin = '', timeoutMs, ...place } = {}) {
      return new Promise((resolve, reject) => {
        const child = start(argv, place);
        const parts: Buffer[] = [];
        let late = false;
        const timer =
          timeoutMs === undefined
            ? undefined
            : setTimeout(() => {
                late = true;
                if (child.pid !== undefined) killIfThere(-child.pid);
              }, timeoutMs);
        child.stdout.on('data', (chunk: Buffer) => parts.push(chunk));
        child.stderr.on('data', (chunk: Buffer) => parts.push(chunk));
        // A program that ends without reading all of its input closes the pipe early.
        child.stdin.on('error', () => undefined);
        child.stdin.end(stdin);
        child.once('error', reject);
        child.once('close', (code) => {
          clearTimeout(timer);
          resolve({ exitCode: late ? null : (code ?? 137), output: Buffer.concat(parts).toString('utf8') });
        });
      });
    },
    async write(path, data) {
      if (!path.startsWith(`${folder}/`)) throw new Error(`${path} is outside of the machine.`);
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, data);
    },
    stop,
    save: (to) =>
      cp(folder, to, { recursive: true, verbatimSymlinks: true, filter: (path) => !path.endsWith('/jobs') }),
    async remove() {
      await stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function processesWith(variable: string): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    pids.map(async (pid) => {
      const environment = await readFile(`/proc/${pid}/environ`).catch(() => null);
      return environment?.includes(`${variable}\0`) ? [Number(pid)] : [];
    }),
  );
  return found.flat();
}

/** It may end between the look and the kill. */
function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}
