import { mkdir, mkdtemp, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { followCommand } from '../../../tools/environments/run-command.ts';
import { createSpoolTransport, type RemoteShell } from '../../../tools/environments/spool-transport.ts';
import type { CommandStart } from '../../../tools/environments/transport.ts';
import { createMachine, type Machine } from '../../support/machine.ts';
import { findProgram } from '../../support/packages.ts';

const busybox = await findProgram('busybox');
const applets = 'sh mkdir mkfifo rm mv ls dd base64 cat sleep env setsid head tr grep kill wc seq true'.split(
  ' ',
);

const shells = [
  { name: 'the sh of this machine', argv: ['sh'], isThere: true },
  { name: 'bash', argv: ['bash'], isThere: true },
  { name: 'busybox alone', argv: ['sh'], isThere: busybox !== null, only: 'bin' },
];

describe.each(shells)('jobs under $name', ({ argv, isThere, only }) => {
  describe.skipIf(!isThere || process.platform !== 'linux')('needs it, and /proc', () => {
    let machine: Machine;
    let shell: RemoteShell;

    beforeAll(async () => {
      const folder = await mkdtemp(join(tmpdir(), 'spool-'));
      machine = await createMachine(folder);
      const jobs = join(folder, 'jobs');
      const bin = join(folder, 'bin');
      await mkdir(bin);
      for (const applet of applets) await symlink(busybox ?? '/nowhere', join(bin, applet));
      const env: Record<string, string> = only === undefined ? {} : { PATH: bin };
      const program = only === undefined ? argv : [join(bin, 'sh')];
      shell = {
        async run(script, args, { limitMs }) {
          const { output } = await machine.run([...program, '-c', script, 'sh', ...args], {
            env,
            timeoutMs: limitMs,
          });
          return output;
        },
        upload: (path, data) => machine.write(path, data),
        folder: async () => jobs,
      };
    });
    afterAll(() => machine.remove());

    async function run(command: CommandStart, signal = new AbortController().signal) {
      const running = await createSpoolTransport(shell).start(command);
      return followCommand(running, { timeoutMs: 20_000, signal });
    }

    test('keep streams apart byte for byte, and tell the exit code', async () => {
      const script = 'printf "a\\000b"; printf "\\377" >&2; exit 7';
      const running = await createSpoolTransport(shell).start({ argv: ['sh', '-c', script] });
      const seen = { stdout: [] as Uint8Array[], stderr: [] as Uint8Array[] };
      running.onData((stream, chunk) => seen[stream].push(chunk));
      expect(await running.exited).toBe(7);
      await running.ended;
      expect(Buffer.concat(seen.stdout).toString('hex')).toBe('610062');
      expect(Buffer.concat(seen.stderr).toString('hex')).toBe('ff');
    });

    test('have more output than fits in what may lie there', async () => {
      const { output, exitCode } = await run({ argv: ['head', '-c', '6000000', '/dev/zero'] });
      expect(exitCode).toBe(0);
      expect(output).toContain('omitted 5,800,000 bytes');
    });

    test('get their input, and arguments longer than a call may hold', async () => {
      const long = "it's ".repeat(20_000);
      expect((await run({ argv: ['cat'], stdin: 'given' })).stdout).toBe('given');
      const { stdout } = await run({ argv: ['sh', '-c', 'printf %s "$1" | wc -c', 'sh', long] });
      expect(Number(stdout)).toBe(long.length);
    });

    test('are spoken to while they run', async () => {
      const running = await createSpoolTransport(shell).start({
        argv: ['cat'],
        interactive: 'pipes',
        merged: true,
      });
      let text = '';
      running.onData((_stream, chunk) => {
        text += Buffer.from(chunk).toString();
      });
      expect(await running.input?.write('one ')).toBe(true);
      expect(await running.input?.write('two')).toBe(true);
      await running.input?.end();
      expect(await running.exited).toBe(0);
      await running.ended;
      expect(text).toBe('one two');
      expect(await running.input?.write('late')).toBe(false);
    });

    test('are ended with all that they started', async () => {
      const argv = ['sh', '-c', 'sleep 300 & echo up; sleep 300'];
      const running = await createSpoolTransport(shell).start({ argv });
      await new Promise<void>((resolve) => running.onData(() => resolve()));
      expect(await running.kill()).toEqual([]);
      expect(await running.exited).toBeGreaterThan(128);
    });

    // Without `setsid -f` a job begins in the background, where the shell has it ignore that signal.
    if (only === undefined)
      test('can be interrupted by the signal of Ctrl-C', async () => {
        const { stdout } = await run({
          argv: ['sh', '-c', 'trap "echo caught; exit" INT; kill -INT $$; sleep 5'],
        });
        expect(stdout).toBe('caught\n');
      });
  });
});
