import { access, constants, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { bwrapCommand, checkBwrap } from './bwrap.ts';
import { scrubbedEnv } from './child-env.ts';
import type { Environment } from './environment.ts';
import { createFifos } from './fifos.ts';
import { adoptLocalProcess } from './local-background.ts';
import { createLocalFiles } from './local-files.ts';
import { createLocalTransport } from './local-transport.ts';
import { isAlive } from './process-tree.ts';
import { startOnMachine } from './pty.ts';
import { createShellEnvironment } from './shell-environment.ts';

export interface LocalOptions {
  /** Where sessions start. Default: the user's home. */
  cwd?: string;
  home?: string;
  /** The environment that commands see after secrets are taken out. Default: the gateway's own. */
  env?: Readonly<Record<string, string | undefined>>;
  /** Names of variables that are let through although they look like secrets. */
  envPassthrough?: readonly string[];
  /** `bwrap`: everything outside the working folder is read-only, and there is no network. Default: `none`. */
  sandbox?: 'none' | 'bwrap';
  /** Where the private folder for shell state is made. Default: the system's folder for temporary files. */
  temporaryRoot?: string;
}

/** Commands run on this machine as the gateway's own user; approvals are the guard. */
export async function createLocalEnvironment(options: LocalOptions = {}): Promise<Environment> {
  const home = options.home ?? homedir();
  const cwd = await existingFolder(resolve(options.cwd ?? home), home);
  const temporaryRoot = options.temporaryRoot ?? tmpdir();
  await removeLeftovers(temporaryRoot);
  const folder = await mkdtemp(join(temporaryRoot, `${folderPrefix}${process.pid}-`));
  const wrap = options.sandbox === 'bwrap' ? await sandboxed([cwd, folder]) : undefined;
  const env: Record<string, string> = {
    ...scrubbedEnv(options.env ?? process.env, options.envPassthrough),
    HOME: home,
  };
  const fifos = createFifos(folder);
  const place = { fifos, folder, cwd, env, ...(wrap !== undefined && { wrap }) };
  return createShellEnvironment({
    backend: 'local',
    isolated: false,
    home,
    defaultCwd: cwd,
    shell: (await hasBash(env['PATH'] ?? '')) ? 'bash' : 'sh',
    stateFolder: folder,
    transport: createLocalTransport(place),
    files: createLocalFiles(),
    spawn: (argv, how) => startOnMachine(argv, how, place),
    adopt: adoptLocalProcess,
    async close() {
      await rm(folder, { recursive: true, force: true });
    },
  });
}

const folderPrefix = 'hermes-shell-';

async function sandboxed(writable: readonly string[]) {
  await checkBwrap();
  return bwrapCommand({ writable });
}

/** State of gateways that were killed: their pid is in the folder's name. */
async function removeLeftovers(root: string): Promise<void> {
  const names = await readdir(root);
  const left = names.filter((name) => {
    const pid = new RegExp(`^${folderPrefix}(\\d+)-`).exec(name)?.[1];
    return pid !== undefined && !isAlive(Number(pid));
  });
  await Promise.all(left.map((name) => rm(join(root, name), { recursive: true, force: true })));
}

async function hasBash(path: string): Promise<boolean> {
  const found = await Promise.all(
    path.split(delimiter).map((folder) =>
      access(join(folder, 'bash'), constants.X_OK).then(
        () => true,
        () => false,
      ),
    ),
  );
  return found.includes(true);
}

async function existingFolder(path: string, fallback: string): Promise<string> {
  const found = await stat(path).catch(() => null);
  return found?.isDirectory() ? path : fallback;
}
