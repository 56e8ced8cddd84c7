import { randomBytes } from 'node:crypto';
import { posix } from 'node:path';
import { errorMessage, GatewayError } from '../../src/errors.ts';
import { CloudError } from './cloud-http.ts';
import type { BackendName, Environment } from './environment.ts';
import type { OpenContext, TerminalOptions } from './options.ts';
import { startRemoteBackground } from './remote-background.ts';
import { createShellEnvironment } from './shell-environment.ts';
import { createShellFiles, rawRun } from './shell-files.ts';
import { createSpoolTransport, PlaceLost, type RemoteShell } from './spool-transport.ts';

/** A running sandbox of a service. */
export interface CloudSandbox extends Pick<RemoteShell, 'run' | 'upload'> {
  isRunning(): Promise<boolean>;
}

/** What a service must offer to be a terminal backend. */
export interface CloudProvider {
  backend: BackendName;
  /** For messages. */
  name: string;
  /** The task's sandbox, running: found again, resumed or made. */
  attach(): Promise<CloudSandbox>;
  /** Stops the sandbox and keeps its files, or removes it with them. */
  close(keep: boolean): Promise<void>;
}

const attachMs = 60_000;
const baseTimeoutMs = 60_000;

/**
 * Argument: the name of this environment's folder. It starts empty, so that whoever finds its old state gone knows that
 * the place is new. Others may use the sandbox too; what they left when they were killed goes after a month.
 */
const attachScript = `
h_base=\${TMPDIR:-/tmp}/.hermes-gateway
h_root=$h_base/$1
rm -rf "$h_root"
find "$h_base" -mindepth 1 -maxdepth 1 -mtime +30 -exec rm -rf {} + 2>/dev/null
mkdir -p -m 700 "$h_base" && mkdir -m 700 "$h_root" "$h_root/jobs" "$h_root/state" || exit 1
printf '%s\\n' "$h_root" "\${HOME:-/}" "$PWD"
command -v bash >/dev/null && echo bash || echo sh`;

const leaveMs = 5_000;

interface Place {
  sandbox: CloudSandbox;
  root: string;
  home: string;
  cwd: string;
  shell: 'bash' | 'sh';
}

/** An environment in a service's sandbox. Commands are jobs there, since such services only run short scripts well. */
export async function createCloudEnvironment(
  provider: CloudProvider,
  options: TerminalOptions,
  context: OpenContext,
): Promise<Environment> {
  const keeper = keepPlace(provider);
  const transport = createSpoolTransport(keeper.shell);
  const { persistent } = options.container;
  try {
    const { home, cwd, shell, root } = await keeper.get();
    const stateFolder = posix.join(root, 'state');
    return createShellEnvironment({
      backend: provider.backend,
      isolated: true,
      home,
      defaultCwd: insideFolder(options.cwd, home) ?? cwd,
      shell,
      stateFolder,
      transport,
      files: createShellFiles(transport),
      baseTimeoutMs,
      async prepare() {
        await rawRun(transport, { argv: ['mkdir', '-p', '-m', '700', stateFolder] }, attachMs);
      },
      async spawn(argv, { pty, mark }) {
        const started = await startRemoteBackground(transport, argv, { pty: false, mark });
        if (!pty) return started;
        return { ...started, ptyNote: `${provider.name} gives no terminal here: the process runs on pipes.` };
      },
      close: () => keeper.close(persistent),
    });
  } catch (error) {
    // Kept where its files count: a sandbox that only failed to answer may hold somebody's work.
    await keeper.close(persistent).catch((second) => {
      context.log.warn({ error: errorMessage(second) }, 'A sandbox that failed to start was not closed.');
    });
    throw error;
  }
}

/** A folder of this machine means nothing inside. */
function insideFolder(cwd: string, home: string): string | null {
  if (!posix.isAbsolute(cwd)) return null;
  return cwd.startsWith(`${home}/`) || !/^\/(?:Users|home)\//.test(cwd) ? cwd : null;
}

/** One sandbox at a time, attached once however many commands ask for it. */
function keepPlace(provider: CloudProvider) {
  const folder = randomBytes(6).toString('hex');
  let current: Promise<Place> | null = null;
  let isClosed = false;

  function get(): Promise<Place> {
    if (isClosed) return Promise.reject(closedPlace(provider.name));
    current ??= attach(provider, folder).catch((error) => {
      current = null;
      throw error;
    });
    return current;
  }

  /** Does it in the sandbox, or tells that the sandbox is gone, so that the next one is attached anew. */
  async function during<T>(act: (place: Place) => Promise<T>): Promise<T> {
    const asked = get();
    const place = await asked;
    try {
      return await act(place);
    } catch (error) {
      if (!(error instanceof CloudError) || isAccount(error) || isClosed) throw error;
      const isRunning = await place.sandbox.isRunning().catch(() => true);
      if (isRunning) throw error;
      if (current === asked) current = null;
      const nothingRan = error.status !== null && error.status < 500;
      throw new PlaceLost(`The sandbox at ${provider.name} is gone or stopped.`, nothingRan, error);
    }
  }

  const shell: RemoteShell = {
    run: (script, args, limits) => during(({ sandbox }) => sandbox.run(script, args, limits)),
    upload: (path, data) => during(({ sandbox }) => sandbox.upload(path, data)),
    folder: async () => posix.join((await get()).root, 'jobs'),
  };
  return {
    get,
    shell,
    async close(keep: boolean): Promise<void> {
      if (isClosed) return;
      isClosed = true;
      const place = await current?.catch(() => null);
      if (keep && place != null) await leave(place);
      await provider.close(keep);
    },
  };
}

/** A kept sandbox need not hold what no one will read again. One that does not answer is closed all the same. */
async function leave({ sandbox, root }: Place): Promise<void> {
  await sandbox.run('rm -rf "$1"', [root], { limitMs: leaveMs }).catch(() => null);
}

/** Refused because of who asks or how often, which says nothing of the sandbox. */
const isAccount = ({ status }: CloudError) => status !== null && [401, 402, 403, 429].includes(status);

async function attach(provider: CloudProvider, folder: string): Promise<Place> {
  const sandbox = await provider.attach();
  const text = await sandbox.run(attachScript, [folder], { limitMs: attachMs });
  const [root = '', home = '/', cwd = '/', shell] = text.split('\n');
  if (!posix.isAbsolute(root) || (shell !== 'bash' && shell !== 'sh')) {
    throw new GatewayError('environment_unavailable', `The sandbox at ${provider.name} runs no shell.`, {
      mend: `Choose an image with sh, mkfifo, dd and base64. It said: ${text.trim().slice(0, 200)}`,
    });
  }
  return { sandbox, root, home, cwd, shell };
}

function closedPlace(name: string): GatewayError {
  return new GatewayError('environment_unavailable', `The sandbox at ${name} is closed.`);
}
