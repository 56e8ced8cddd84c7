import { randomBytes } from 'node:crypto';
import { posix } from 'node:path';
import { sleep, systemClock } from '../../src/clock.ts';
import { GatewayError } from '../../src/errors.ts';
import type { EnvironmentFiles, FileStat } from './environment.ts';
import { within } from './run-command.ts';
import type { CommandStart, Transport } from './transport.ts';

/** Files of a place that has no protocol for them: short scripts of POSIX `sh` with `stat`, `readlink` and `head`. */
export function createShellFiles(transport: Transport, timeoutMs = 60_000): EnvironmentFiles {
  async function sh(script: string, args: readonly string[], stdin?: Uint8Array): Promise<Buffer> {
    const start = { argv: ['sh', '-c', script, 'sh', ...args], ...(stdin !== undefined && { stdin }) };
    const { exitCode, stdout, stderr } = await rawRun(transport, start, timeoutMs);
    if (exitCode === 0) return stdout;
    const code = codeOfExit[exitCode];
    throw Object.assign(new Error(`${code ?? 'EIO'}: ${args[0] ?? ''}: ${stderr.trim()}`), {
      code: code ?? 'EIO',
    });
  }

  return {
    async stat(path) {
      const text = (await sh(statScript, [path])).toString('utf8');
      const match = /^([^|]*)\|(\d+)\|(\d+)\|(.*)$/s.exec(text);
      if (match === null) return null;
      const [, type = '', bytes, seconds, realPath = ''] = match;
      return { kind: kindOf(type), bytes: Number(bytes), modifiedMs: Number(seconds) * 1_000, realPath };
    },
    async read(path, { offset = 0, maxBytes } = {}) {
      return sh(readScript, [path, String(offset + 1), maxBytes === undefined ? '' : String(maxBytes)]);
    },
    async write(path, data) {
      await sh(writeScript, [path, posix.dirname(path), randomBytes(6).toString('hex')], data);
    },
    async list(path) {
      const words = (await sh(listScript, [path])).toString('utf8').split('\0');
      return words
        .filter(Boolean)
        .map((word) => ({ name: word.slice(1), kind: kindLetters[word[0] ?? ''] ?? 'other' }));
    },
    async remove(path) {
      await sh('rm -rf -- "$1"', [path]);
    },
    async rename(from, to) {
      await sh(`${mustExist} mv -f -- "$1" "$2"`, [from, to]);
    },
  };
}

/** Scripts end with these codes, which no tool that they use has for itself. */
const codeOfExit: Readonly<Record<number, string>> = {
  71: 'ENOENT',
  72: 'EISDIR',
  73: 'ENOTDIR',
  74: 'EACCES',
};
const kindLetters: Readonly<Record<string, FileStat['kind']>> = { f: 'file', d: 'directory', o: 'other' };

function kindOf(type: string): FileStat['kind'] {
  if (type.startsWith('regular')) return 'file';
  return type === 'directory' ? 'directory' : 'other';
}

const mustExist = '[ -e "$1" ] || [ -L "$1" ] || { echo "no such file" >&2; exit 71; };';

const statScript = `[ -e "$1" ] || exit 0
printf '%s|%s' "$(stat -L -c '%F|%s|%Y' -- "$1")" "$(readlink -f -- "$1")"`;

const readScript = `${mustExist}
[ ! -d "$1" ] || { echo "is a folder" >&2; exit 72; }
[ -r "$1" ] || { echo "permission denied" >&2; exit 74; }
if [ -n "$3" ]; then tail -c "+$2" -- "$1" | head -c "$3"
elif [ "$2" = 1 ]; then cat -- "$1"
else tail -c "+$2" -- "$1"; fi`;

const writeScript = `[ ! -d "$1" ] || { echo "is a folder" >&2; exit 72; }
t=$1
[ ! -L "$t" ] || t=$(readlink -f -- "$t")
mkdir -p -- "$2" || exit 74
n=$2/.hermes-$3
(umask 077; : >"$n") || exit 74
cat >"$n" || { rm -f -- "$n"; exit 74; }
if [ -e "$t" ]; then chmod "$(stat -c %a -- "$t")" "$n"; else chmod "$(printf %o $((0666 & ~$(umask))))" "$n"; fi
mv -f -- "$n" "$t"`;

const listScript = `${mustExist}
[ -d "$1" ] || { echo "not a folder" >&2; exit 73; }
cd -- "$1" || exit 74
for f in * .*; do
  case $f in .|..) continue;; esac
  if [ -L "$f" ]; then k=o; elif [ -f "$f" ]; then k=f; elif [ -d "$f" ]; then k=d
  elif [ -e "$f" ]; then k=o; else continue; fi
  printf '%s%s\\0' "$k" "$f"
done`;

/** Runs a program and keeps its output as bytes; only for output whose size is known to be bearable. */
export async function rawRun(transport: Transport, start: CommandStart, timeoutMs: number) {
  const running = await transport.start(start);
  const parts: Record<'stdout' | 'stderr', Uint8Array[]> = { stdout: [], stderr: [] };
  running.onData((stream, chunk) => parts[stream].push(chunk));
  const over = new AbortController();
  try {
    const exitCode = await Promise.race([
      running.exited,
      sleep(systemClock, timeoutMs, over.signal).then(() => null),
    ]);
    if (exitCode === null) {
      await running.kill();
      throw new GatewayError('environment_unavailable', `No answer within ${timeoutMs / 1_000} s.`);
    }
    await within(5_000, running.ended, undefined);
    return {
      exitCode,
      stdout: Buffer.concat(parts.stdout),
      stderr: Buffer.concat(parts.stderr).toString('utf8'),
    };
  } finally {
    over.abort();
    running.release();
  }
}
