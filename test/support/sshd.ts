import { execFile, spawn } from 'node:child_process';
import { mkdir, mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findProgram } from './packages.ts';

const run = promisify(execFile);

/** An sshd of the tests' own, on a free port of the loopback. */
export interface PrivateSshd {
  port: number;
  /** Private keys that may log in: one plain, one with `passphrase`. */
  key: string;
  protectedKey: string;
  passphrase: string;
  /** A known_hosts file that has the host's key. */
  knownHosts: string;
  hostKey: string;
  folder: string;
  /** Ends every connection, as a broken network would. */
  dropConnections(): Promise<void>;
  stop(): Promise<void>;
}

export async function startSshd(): Promise<PrivateSshd> {
  const folder = await mkdtemp(join(tmpdir(), 'hermes-sshd-'));
  const port = await freePort();
  const at = (name: string) => join(folder, name);
  const passphrase = 'open sesame';
  const keys = [
    { file: at('host'), phrase: '' },
    { file: at('key'), phrase: '' },
    { file: at('protected'), phrase: passphrase },
  ];
  for (const { file, phrase } of keys)
    await run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', phrase, '-f', file]);
  const allowed = await Promise.all(['key.pub', 'protected.pub'].map((name) => readFile(at(name), 'utf8')));
  await writeFile(at('authorized_keys'), allowed.join(''), { mode: 0o600 });
  const hostKey = (await readFile(at('host.pub'), 'utf8')).split(' ').slice(0, 2).join(' ');
  await writeFile(at('known_hosts'), `[127.0.0.1]:${port} ${hostKey}\n`);
  // A home of its own: the start files of whoever runs the tests must not matter.
  await mkdir(at('home'));
  await writeFile(at('config'), configText(folder, port));
  // Where sshd drops its rights; the package makes it at boot.
  if (process.getuid?.() === 0) await mkdir('/run/sshd', { recursive: true, mode: 0o755 });
  const log = await open(at('log'), 'a');
  const program = (await findProgram('sshd')) ?? '/usr/sbin/sshd';
  const server = spawn(program, ['-D', '-e', '-f', at('config')], { stdio: ['ignore', log.fd, log.fd] });
  await log.close();
  await untilListens(port);
  const gone = new Promise((resolve) => server.once('exit', resolve));
  return {
    port,
    key: at('key'),
    protectedKey: at('protected'),
    passphrase,
    knownHosts: at('known_hosts'),
    hostKey,
    folder,
    async dropConnections() {
      const { stdout } = await run('ps', ['-o', 'pid=', '--ppid', String(server.pid)]).catch(() => ({
        stdout: '',
      }));
      for (const pid of stdout.split('\n').map(Number).filter(Boolean)) killIfThere(pid);
    },
    async stop() {
      server.kill();
      await gone;
      await rm(folder, { recursive: true });
    },
  };
}

const configText = (folder: string, port: number) => `
Port ${port}
ListenAddress 127.0.0.1
HostKey ${folder}/host
AuthorizedKeysFile ${folder}/authorized_keys
PidFile ${folder}/pid
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
AllowTcpForwarding yes
MaxStartups 100
Subsystem sftp internal-sftp
SetEnv HOME=${folder}/home
`;

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('No free port.');
  return address.port;
}

async function untilListens(port: number): Promise<void> {
  for (let attempt = 0; ; attempt += 1) {
    const isOpen = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1');
      socket.once('connect', () => resolve(true));
      socket.once('error', () => resolve(false));
      socket.once('connect', () => socket.destroy());
    });
    if (isOpen) return;
    if (attempt > 200) throw new Error(`sshd does not listen on ${port}.`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** One process of a connection may end with the other, between the look and the kill. */
function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}
