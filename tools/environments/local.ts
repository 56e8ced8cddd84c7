import { execFile } from 'node:child_process';
import { access, constants, rm, stat } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { bwrapCommand, checkBwrap } from './bwrap.ts';
import { scrubbedEnv } from './child-env.ts';
import { commandTags } from './command-tags.ts';
import type { Environment } from './environment.ts';
import { createFifos } from './fifos.ts';
import { adoptLocalProcess } from './local-background.ts';
import { createLocalFiles } from './local-files.ts';
import { createLocalTransport } from './local-transport.ts';
import { makeOwnedFolder } from './owned-folder.ts';
import { startOnMachine } from './pty.ts';
import { reapCommands } from './reap-commands.ts';
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
  /** Whose commands these are, so that a later gateway ends what a killed one left running. */
  installId?: string;
  /** Where the private folder for shell state is made. Default: the system's folder for temporary files. */
  temporaryRoot?: string;
}

/** Commands run on this machine as the gateway's own user; approvals are the guard. */
export async function createLocalEnvironment(options: LocalOptions = {}): Promise<Environment> {
  const home = options.home ?? homedir();
  const cwd = await existingFolder(resolve(options.cwd ?? home), home);
  const folder = await makeOwnedFolder(options.temporaryRoot ?? tmpdir(), 'hermes-shell');
  const wrap = options.sandbox === 'bwrap' ? await sandboxed([cwd, folder]) : undefined;
  const env: Record<string, string> = {
    ...scrubbedEnv(options.env ?? process.env, options.envPassthrough),
    HOME: home,
  };
  const fifos = createFifos(folder);
  const newTag = await commandTags(options.installId ?? 'none');
  const place = { fifos, folder, cwd, env, newTag, ...(wrap !== undefined && { wrap }) };
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

/** Ends what a killed gateway of this installation left running on this machine. */
export async function reapLocal(installId: string): Promise<string[]> {
  const run = promisify(execFile);
  return reapCommands(async ([program = '', ...args]) => (await run(program, args)).stdout, installId);
}

async function sandboxed(writable: readonly string[]) {
  await checkBwrap();
  return bwrapCommand({ writable });
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
