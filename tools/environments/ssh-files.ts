import { randomBytes } from 'node:crypto';
import { posix } from 'node:path';
import type { Client, SFTPWrapper, Stats } from 'ssh2';
import type { EnvironmentFiles, FileStat } from './environment.ts';
import { rawRun } from './shell-files.ts';
import type { SshPool } from './ssh-pool.ts';
import type { Transport } from './transport.ts';

type Done<T> = (error: Error | undefined | null, value: T) => void;

const chunkBytes = 32_000;
/** As much of a file whose size is not known as is read. */
const unknownSizeBytes = 1_000_000;
const commandMs = 60_000;
/** SSH_FX_* of the SFTP draft, version 3, section 7. */
const codeOfStatus: Readonly<Record<number, string>> = { 2: 'ENOENT', 3: 'EACCES' };

/** Files of the other host by SFTP, on the connection of the commands. */
export function createSshFiles(pool: SshPool, transport: Transport): EnvironmentFiles {
  let open: { client: Client; sftp: Promise<SFTPWrapper> } | null = null;

  async function sftp(): Promise<SFTPWrapper> {
    const client = await pool.main();
    if (open?.client !== client) open = { client, sftp: call((done) => client.sftp(done)) };
    return open.sftp;
  }

  async function statOf(path: string): Promise<FileStat | null> {
    const session = await sftp();
    const found = await call<Stats>((done) => session.stat(path, done)).catch(() => null);
    if (found === null) return null;
    const realPath = await call<string>((done) => session.realpath(path, done));
    return { kind: kindOf(found), bytes: found.size, modifiedMs: found.mtime * 1_000, realPath };
  }

  async function write(path: string, data: Uint8Array): Promise<void> {
    const session = await sftp();
    const old = await statOf(path);
    if (old?.kind === 'directory') throw problem('EISDIR', path, 'is a folder');
    const target = old?.realPath ?? path;
    const folder = posix.dirname(target);
    if ((await statOf(folder)) === null) await command(['mkdir', '-p', '--', folder], folder);
    const temporary = posix.join(folder, `.hermes-${randomBytes(6).toString('hex')}`);
    try {
      await call<void>((done) =>
        session.writeFile(temporary, Buffer.from(data), (error) => done(error, undefined)),
      );
      if (old !== null) {
        const { mode } = await call<Stats>((done) => session.stat(target, done));
        await call<void>((done) =>
          session.chmod(temporary, mode & 0o7777, (error) => done(error, undefined)),
        );
      }
      await moved(session, temporary, target);
    } catch (error) {
      session.unlink(temporary, () => undefined);
      throw error;
    }
  }

  async function command(argv: readonly string[], path: string): Promise<void> {
    const { exitCode, stderr } = await rawRun(transport, { argv }, commandMs);
    if (exitCode !== 0) throw problem(/denied/i.test(stderr) ? 'EACCES' : 'EIO', path, stderr.trim());
  }

  return {
    stat: statOf,
    async read(path, { offset = 0, maxBytes } = {}) {
      const found = await statOf(path);
      if (found === null) throw problem('ENOENT', path, 'no such file');
      if (found.kind === 'directory') throw problem('EISDIR', path, 'is a folder');
      const session = await sftp();
      // Files of /proc say that they are empty and are not.
      const size = found.bytes === 0 ? unknownSizeBytes : found.bytes - offset;
      const wanted = Math.max(0, Math.min(maxBytes ?? Number.MAX_SAFE_INTEGER, size));
      return readRange(session, path, offset, wanted);
    },
    write,
    async list(path) {
      const found = await statOf(path);
      if (found === null) throw problem('ENOENT', path, 'no such folder');
      if (found.kind !== 'directory') throw problem('ENOTDIR', path, 'is not a folder');
      const session = await sftp();
      const entries = await call<{ filename: string; attrs: Stats }[]>((done) => session.readdir(path, done));
      return entries.map(({ filename, attrs }) => ({ name: filename, kind: kindOf(attrs) }));
    },
    // SFTP removes no folder that has something in it.
    remove: (path) => command(['rm', '-rf', '--', path], path),
    async rename(from, to) {
      await moved(await sftp(), from, to);
    },
  };
}

async function readRange(
  session: SFTPWrapper,
  path: string,
  offset: number,
  wanted: number,
): Promise<Buffer> {
  const handle = await call<Buffer>((done) => session.open(path, 'r', done));
  const data = Buffer.alloc(wanted);
  try {
    let at = 0;
    while (at < wanted) {
      const length = Math.min(chunkBytes, wanted - at);
      const from = at;
      const got = await call<number>((done) => session.read(handle, data, from, length, offset + from, done));
      if (got === 0) break;
      at += got;
    }
    return data.subarray(0, at);
  } finally {
    session.close(handle, () => undefined);
  }
}

/** OpenSSH's own rename replaces what is there; the standard one refuses. */
function moved(session: SFTPWrapper, from: string, to: string): Promise<void> {
  return call<void>((done) => session.ext_openssh_rename(from, to, (error) => done(error, undefined)));
}

function kindOf(attributes: Stats): FileStat['kind'] {
  if (attributes.isFile()) return 'file';
  return attributes.isDirectory() ? 'directory' : 'other';
}

function call<T>(start: (done: Done<T>) => void): Promise<T> {
  return new Promise((resolve, reject) => {
    start((error, value) => (error ? reject(coded(error)) : resolve(value)));
  });
}

function coded(error: Error): Error {
  const status = 'code' in error && typeof error.code === 'number' ? error.code : -1;
  return Object.assign(error, { code: codeOfStatus[status] ?? 'EIO' });
}

function problem(code: string, path: string, text: string): Error {
  return Object.assign(new Error(`${code}: ${path} ${text}`), { code });
}
