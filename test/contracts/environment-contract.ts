import { randomBytes } from 'node:crypto';
import { posix } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Environment, ExecRequest, ExecResult } from '../../tools/environments/environment.ts';

/** What a backend brings to the contract. */
export interface EnvironmentUnderTest {
  environment: Environment;
  /** An empty folder inside the environment that the tests may fill. */
  folder: string;
  /** Without bash, functions cannot be saved. */
  shell: 'bash' | 'sh';
  /** What the backend cannot do for background processes, by nature. */
  background: { stdin: boolean; pty: boolean };
  /** What is still there after `close`, seen from outside; must be empty. */
  leftovers(): Promise<readonly string[]>;
}

const never = new AbortController().signal;
const patienceMs = 20_000;

/** Every backend runs the same sentences: what the terminal and the file tools rely on, wherever commands run. */
export function environmentContract(name: string, create: () => Promise<EnvironmentUnderTest>): void {
  describe(name, () => {
    let place: EnvironmentUnderTest;
    let sessions = 0;

    beforeAll(async () => {
      place = await create();
    }, 180_000);

    afterAll(async () => {
      await place.environment.close();
      expect(await place.leftovers()).toEqual([]);
    }, 60_000);

    /** A session of its own for each test. */
    function openSession() {
      sessions += 1;
      const sessionId = `agent:main:test:dm:${sessions}`;
      const exec = (command: string, more: Partial<ExecRequest> = {}): Promise<ExecResult> =>
        place.environment.exec({ command, sessionId, timeoutMs: patienceMs, signal: never, ...more });
      return { sessionId, exec };
    }

    const freshFolder = async () => {
      const path = posix.join(place.folder, randomBytes(6).toString('hex'));
      await place.environment.run(['mkdir', '-p', path], { timeoutMs: patienceMs, signal: never });
      return path;
    };

    /** Which of the pids still run, asked inside the environment. */
    async function alive(pids: readonly string[]): Promise<string> {
      const { exec } = openSession();
      const checks = pids.map((pid) => `kill -0 ${pid} 2>/dev/null && echo ${pid}`);
      return (await exec(`${checks.join('; ')}; true`)).stdout.trim();
    }

    const until = async (what: string, met: () => Promise<boolean> | boolean) => {
      const from = Date.now();
      while (!(await met())) {
        if (Date.now() - from > patienceMs) throw new Error(`Waited in vain until ${what}.`);
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    };

    test('stdout, stderr and the exit code are kept apart', async () => {
      const { exec } = openSession();
      expect(await exec('echo out; echo err >&2; exit 3')).toMatchObject({
        stdout: 'out\n',
        stderr: 'err\n',
        exitCode: 3,
        outcome: 'exited',
        omittedBytes: 0,
      });
    });

    test('the combined output has both streams in order', async () => {
      const { exec } = openSession();
      const spaced = await exec('echo 1; sleep 0.3; echo 2 >&2; sleep 0.3; echo 3');
      expect(spaced.output).toBe('1\n2\n3\n');
      const rapid = 'for i in 1 2 3 4 5; do echo o$i; echo e$i >&2; done';
      const merged = await exec(rapid, { streams: 'merged' });
      expect(merged.output).toBe('o1\ne1\no2\ne2\no3\ne3\no4\ne4\no5\ne5\n');
      expect(merged.stderr).toBe('');
    });

    test('output without a newline at its end stays as it is', async () => {
      const { exec } = openSession();
      expect((await exec('printf abc')).stdout).toBe('abc');
      expect((await exec('true')).output).toBe('');
    });

    test('quotes, dollars, newlines and here-documents reach the shell unchanged', async () => {
      const { exec } = openSession();
      const command = `X=a\\ b; printf '%s|' "$X" '$X' "it's" 'tab\there' 'ü😀'\ncat <<'END'\n$X \`x\` "q"\nEND`;
      expect((await exec(command)).stdout).toBe('a b|$X|it\'s|tab\there|ü😀|$X `x` "q"\n');
    });

    test('a command longer than an argument may be runs all the same', async () => {
      const { exec } = openSession();
      const text = 'x'.repeat(300_000);
      expect((await exec(`V='${text}'; echo \${#V}`)).stdout).toBe('300000\n');
    });

    test('a syntax error fails the command and not the session', async () => {
      const { exec } = openSession();
      await exec('export KEPT=yes');
      const broken = await exec('if then');
      expect(broken.exitCode).not.toBe(0);
      expect(broken.stderr.toLowerCase()).toContain('syntax error');
      expect((await exec('echo $KEPT')).stdout).toBe('yes\n');
    });

    test('the folder lasts from command to command, also after a failure', async () => {
      const { exec, sessionId } = openSession();
      const folder = await freshFolder();
      await exec(`cd ${folder}; false`);
      expect(place.environment.cwd(sessionId)).toBe(folder);
      expect((await exec('pwd')).stdout).toBe(`${folder}\n`);
      expect(await exec(`mkdir deeper; cd deeper; exit 4`)).toMatchObject({
        exitCode: 4,
        cwd: `${folder}/deeper`,
      });
      expect((await exec('pwd')).stdout).toBe(`${folder}/deeper\n`);
    });

    test('exports last, and what was unset stays unset', async () => {
      const { exec } = openSession();
      await exec(`export GREETING='it'"'"'s
two lines' OTHER=1`);
      expect((await exec('echo "$GREETING-$OTHER"; unset OTHER')).stdout).toBe("it's\ntwo lines-1\n");
      expect((await exec('echo "${OTHER-gone}"')).stdout).toBe('gone\n');
    });

    test('functions last where the shell can print them', async () => {
      const { exec } = openSession();
      await exec('greet() { echo "hello $1"; }');
      const again = await exec('greet you');
      expect(again.stdout).toBe(place.shell === 'bash' ? 'hello you\n' : '');
    });

    test('a timed-out command changes neither folder nor exports', async () => {
      const { exec } = openSession();
      const folder = await freshFolder();
      await exec(`cd ${folder}; export STATE=old`);
      expect(await exec('cd /; export STATE=new; sleep 60', { timeoutMs: 700 })).toMatchObject({
        exitCode: 124,
        outcome: 'timed_out',
      });
      expect((await exec('echo "$PWD $STATE"')).stdout).toBe(`${folder} old\n`);
    });

    test('a folder for one command does not move the session', async () => {
      const { exec } = openSession();
      const folder = await freshFolder();
      const before = (await exec('pwd')).stdout;
      expect((await exec('pwd', { cwd: folder })).stdout).toBe(`${folder}\n`);
      expect((await exec('pwd')).stdout).toBe(before);
      expect((await exec('pwd', { cwd: '~' })).stdout).toBe(`${place.environment.home}\n`);
    });

    test('a folder that does not exist is a clear error, and nothing runs', async () => {
      const { exec } = openSession();
      const folder = await freshFolder();
      await expect(exec(`touch ${folder}/ran`, { cwd: `${folder}/missing` })).rejects.toMatchObject({
        code: 'environment_refused',
        message: expect.stringContaining(`${folder}/missing does not exist`),
      });
      expect(await place.environment.files.stat(`${folder}/ran`)).toBeNull();
    });

    test('a session whose folder was deleted goes on in the nearest parent and says so', async () => {
      const { exec } = openSession();
      const folder = await freshFolder();
      await exec(`mkdir -p ${folder}/a/b; cd ${folder}/a/b`);
      await exec(`rm -r ${folder}/a`);
      const next = await exec('pwd');
      expect(next.stdout).toBe(`${folder}\n`);
      expect(next.stderr).toContain(`${folder}/a/b is gone`);
    });

    test('sessions at the same time do not see each other', async () => {
      const folder = await freshFolder();
      const names = Array.from({ length: 6 }, (_, index) => `s${index}`);
      const results = await Promise.all(
        names.map(async (name) => {
          const { exec } = openSession();
          await exec(`mkdir ${folder}/${name}; cd ${folder}/${name}; export WHO=${name}`);
          return (await exec('echo "$WHO $PWD"')).stdout;
        }),
      );
      expect(results).toEqual(names.map((name) => `${name} ${folder}/${name}\n`));
    });

    test('a forgotten session starts anew', async () => {
      const { exec, sessionId } = openSession();
      await exec('cd /; export OLD=1');
      await place.environment.forget(sessionId);
      expect((await exec('echo "$PWD ${OLD-none}"')).stdout).toBe(`${place.environment.defaultCwd} none\n`);
    });

    test('standard input is what was given, or empty', async () => {
      const { exec } = openSession();
      expect((await exec('cat; echo end', { stdin: 'grüß\n$HOME' })).stdout).toBe('grüß\n$HOMEend\n');
      expect((await exec('cat; echo end')).stdout).toBe('end\n');
      const long = `${'line\n'.repeat(100_000)}`;
      expect((await exec('wc -c', { stdin: long })).stdout.trim()).toBe('500000');
    });

    test('100 MB of output stay bounded, with head and tail', async () => {
      const { exec } = openSession();
      const result = await exec('echo first; head -c 100000000 /dev/zero | tr "\\0" x; echo; echo last', {
        timeoutMs: 50_000,
        maxBytes: 10_000,
      });
      expect(result.exitCode).toBe(0);
      expect(result.output).toMatch(/^first\nx/);
      expect(result.output).toMatch(/x\nlast\n$/);
      expect(result.output).toContain('omitted 99,990,012 bytes');
      expect(result.omittedBytes).toBe(99_990_012);
      expect(result.output.length).toBeLessThan(10_100);
    });

    test('no character is broken where output is cut', async () => {
      const { exec } = openSession();
      const command = 'i=0; while [ $i -lt 3000 ]; do printf "😀é€"; i=$((i+1)); done';
      for (const maxBytes of [1_001, 1_002, 1_003, 1_004]) {
        const result = await exec(command, { maxBytes });
        expect(result.output).not.toContain('\ufffd');
        expect(result.omittedBytes).toBeGreaterThan(25_000);
      }
    });

    test('a character that arrives in two pieces is whole', async () => {
      const { exec } = openSession();
      const result = await exec("printf '\\342'; sleep 0.3; printf '\\202\\254'");
      expect(result.stdout).toBe('€');
    });

    test('a timeout ends the whole tree, also what left the process group', async () => {
      const { exec } = openSession();
      const folder = await freshFolder();
      const from = Date.now();
      const result = await exec(
        `cd ${folder}; (sleep 300 & echo $! >a; wait) & setsid sh -c 'echo $$ >b; exec sleep 300' & echo $$ >c; sleep 300`,
        { timeoutMs: 1_500 },
      );
      expect(result).toMatchObject({ exitCode: 124, outcome: 'timed_out' });
      expect(Date.now() - from).toBeLessThan(6_000);
      const pids = (await exec(`cat ${folder}/a ${folder}/b ${folder}/c`)).stdout.trim().split('\n');
      expect(pids).toHaveLength(3);
      await until('the tree is gone', async () => (await alive(pids)) === '');
    });

    test('what ignores TERM is killed', async () => {
      const { exec } = openSession();
      const folder = await freshFolder();
      await exec(`trap '' TERM; echo $$ >${folder}/pid; while :; do sleep 1; done`, { timeoutMs: 1_000 });
      const pid = (await exec(`cat ${folder}/pid`)).stdout.trim();
      await until('the process is gone', async () => (await alive([pid])) === '');
    });

    test('an interruption gives 130, what was printed, and nothing left running', async () => {
      const { exec } = openSession();
      const folder = await freshFolder();
      const stop = new AbortController();
      const running = exec(`echo begun; echo $$ >${folder}/pid; sleep 300`, { signal: stop.signal });
      await until(
        'it runs',
        async () => ((await place.environment.files.stat(`${folder}/pid`))?.bytes ?? 0) > 0,
      );
      stop.abort();
      expect(await running).toMatchObject({ exitCode: 130, outcome: 'interrupted', stdout: 'begun\n' });
      const pid = (await exec(`cat ${folder}/pid`)).stdout.trim();
      await until('the process is gone', async () => (await alive([pid])) === '');
    });

    test('a grandchild that holds the pipe does not hang the call', async () => {
      const { exec } = openSession();
      const from = Date.now();
      const result = await exec('sleep 20 & echo started');
      expect(result).toMatchObject({ exitCode: 0, output: 'started\n' });
      expect(Date.now() - from).toBeLessThan(5_000);
    });

    test('a program runs without a shell and outside of any session', async () => {
      const folder = await freshFolder();
      const limits = { timeoutMs: patienceMs, signal: never };
      const echoed = await place.environment.run(['echo', '$HOME', 'a  b', "'"], limits);
      expect(echoed).toEqual({ exitCode: 0, stdout: "$HOME a  b '\n", stderr: '' });
      expect((await place.environment.run(['pwd'], { ...limits, cwd: folder })).stdout).toBe(`${folder}\n`);
      expect((await place.environment.run(['cat'], { ...limits, stdin: 'in' })).stdout).toBe('in');
      const slow = await place.environment.run(['sleep', '60'], { ...limits, timeoutMs: 500 });
      expect(slow.exitCode).toBe(124);
    });

    describe('files', () => {
      test('are the same for commands and for the file tools', async () => {
        const { exec } = openSession();
        const { files } = place.environment;
        const path = posix.join(await freshFolder(), "new/deep/na me'$.txt");
        const data = Buffer.from('grüß\0\n');
        await files.write(path, data);
        expect((await exec(`cat -- "${path.replace('$', '\\$')}" | wc -c`)).stdout.trim()).toBe(
          `${data.length}`,
        );
        await exec(`printf changed >"${path.replace('$', '\\$')}"`);
        expect(Buffer.from(await files.read(path)).toString()).toBe('changed');
        expect(Buffer.from(await files.read(path, { offset: 2, maxBytes: 3 })).toString()).toBe('ang');
      });

      test('are told by kind, size and real path, or as absent', async () => {
        const { exec } = openSession();
        const { files } = place.environment;
        const folder = await freshFolder();
        await exec(`cd ${folder}; printf 12345 >file; mkdir dir; ln -s file link`);
        const file = await files.stat(`${folder}/file`);
        expect(file).toMatchObject({ kind: 'file', bytes: 5 });
        expect(Math.abs((file?.modifiedMs ?? 0) - Date.now())).toBeLessThan(120_000);
        expect(await files.stat(`${folder}/link`)).toMatchObject({ kind: 'file', realPath: file?.realPath });
        expect(await files.stat(`${folder}/dir`)).toMatchObject({ kind: 'directory' });
        expect(await files.stat(`${folder}/none`)).toBeNull();
        expect(await files.stat(`${folder}/file/below`)).toBeNull();
      });

      test('are listed with hidden and odd names', async () => {
        const { exec } = openSession();
        const folder = await freshFolder();
        await exec(`cd ${folder}; touch .hidden 'with space' '*'; mkdir sub; touch sub/inner`);
        const names = (await place.environment.files.list(folder)).map(({ name, kind }) => `${kind} ${name}`);
        expect(names.sort()).toEqual(['directory sub', 'file *', 'file .hidden', 'file with space']);
      });

      test('keep their mode when they are replaced', async () => {
        const { exec } = openSession();
        const folder = await freshFolder();
        await exec(`cd ${folder}; echo old >run.sh; chmod 754 run.sh`);
        await place.environment.files.write(`${folder}/run.sh`, Buffer.from('new'));
        expect((await exec(`ls -l ${folder}/run.sh`)).stdout).toMatch(/^-rwxr-xr--/);
        expect((await place.environment.files.list(folder)).map(({ name }) => name)).toEqual(['run.sh']);
      });

      test('hold large and binary content', async () => {
        const { exec } = openSession();
        const path = posix.join(await freshFolder(), 'blob');
        const data = randomBytes(1_500_000);
        await place.environment.files.write(path, data);
        expect(Buffer.from(await place.environment.files.read(path)).equals(data)).toBe(true);
        expect((await exec(`wc -c <${path}`)).stdout.trim()).toBe('1500000');
      });

      test('that say they are empty and are not are read all the same', async () => {
        const version = Buffer.from(await place.environment.files.read('/proc/version')).toString();
        expect(version).toMatch(/^Linux version/);
      });

      test('are moved and removed', async () => {
        const { files } = place.environment;
        const folder = await freshFolder();
        await files.write(`${folder}/a/b`, Buffer.from('x'));
        await files.rename(`${folder}/a/b`, `${folder}/c`);
        expect(Buffer.from(await files.read(`${folder}/c`)).toString()).toBe('x');
        await files.remove(`${folder}/a`);
        await files.remove(`${folder}/c`);
        expect(await files.list(folder)).toEqual([]);
      });

      test('fail with the code of what is wrong', async () => {
        const { files } = place.environment;
        const folder = await freshFolder();
        await files.write(`${folder}/file`, Buffer.from('x'));
        await expect(files.read(`${folder}/none`)).rejects.toMatchObject({ code: 'ENOENT' });
        await expect(files.read(folder)).rejects.toMatchObject({ code: 'EISDIR' });
        await expect(files.list(`${folder}/none`)).rejects.toMatchObject({ code: 'ENOENT' });
        await expect(files.list(`${folder}/file`)).rejects.toMatchObject({ code: 'ENOTDIR' });
        await expect(files.write(folder, Buffer.from('x'))).rejects.toMatchObject({ code: 'EISDIR' });
      });
    });

    describe('background processes', () => {
      async function start(command: string, more: { pty?: boolean; sessionId?: string; cwd?: string } = {}) {
        const { sessionId = openSession().sessionId, pty = false, cwd } = more;
        const process = await place.environment.spawn({
          command,
          sessionId,
          pty,
          ...(cwd !== undefined && { cwd }),
        });
        const seen = { text: '' };
        process.onOutput((text) => {
          seen.text += text;
        });
        return { process, seen };
      }

      test('run in the state of their session and tell output and exit code', async () => {
        const { exec, sessionId } = openSession();
        const folder = await freshFolder();
        await exec(`cd ${folder}; export MODE=deep`);
        const { process, seen } = await start('echo "$MODE $PWD"; echo problem >&2; exit 5', { sessionId });
        expect(await process.exited).toBe(5);
        await until('the output is in', () => seen.text.includes('problem'));
        expect(seen.text).toContain(`deep ${folder}\n`);
      });

      test('go on while other commands run, and are killed with all they started', async () => {
        const { exec } = openSession();
        const folder = await freshFolder();
        const { process, seen } = await start(`cd ${folder}; sleep 300 & echo $! >child; echo up; wait`);
        await until('it is up', () => seen.text.includes('up'));
        expect(process.pid).toBeGreaterThan(0);
        const child = (await exec(`cat ${folder}/child`)).stdout.trim();
        expect(await alive([child])).toBe(child);
        expect(await process.kill()).toEqual([]);
        await until('the child is gone', async () => (await alive([child])) === '');
        await process.exited;
      });

      test('end although a grandchild holds their output', async () => {
        const { process, seen } = await start('sleep 15 & echo done; exit 6');
        const from = Date.now();
        expect(await process.exited).toBe(6);
        expect(Date.now() - from).toBeLessThan(8_000);
        await until('the output is in', () => seen.text.includes('done'));
      });

      test('start only in a folder that exists', async () => {
        const folder = await freshFolder();
        await expect(start('true', { cwd: `${folder}/none` })).rejects.toMatchObject({
          code: 'environment_refused',
        });
      });

      test('read what is written to them until their input is closed, or say that they have none', async () => {
        const { process, seen } = await start('while read -r line; do echo "got $line"; done; echo over');
        if (!place.background.stdin) return expect(await process.write('x\n')).toBe(false);
        expect(await process.write('one\n')).toBe(true);
        await until('one was read', () => seen.text.includes('got one'));
        await process.closeInput();
        expect(await process.exited).toBe(0);
        expect(seen.text).toContain('over');
      });

      test('have a terminal when asked, or say why not', async () => {
        const { process, seen } = await start(
          'stty size 2>/dev/null || echo 30 120; [ -t 1 ] && echo terminal; read -r x; echo "<$x>"',
          {
            pty: true,
          },
        );
        if (!place.background.pty) {
          expect('ptyNote' in process && process.ptyNote).toBeTruthy();
          await process.kill();
          return;
        }
        await until('it is a terminal', () => seen.text.includes('terminal'));
        expect(seen.text).toContain('30 120');
        await process.write('text\n');
        await until('it was read', () => seen.text.includes('<text>'));
        expect(await process.exited).toBe(0);
      });

      test('on a terminal can be resized and interrupted by Ctrl-C', async () => {
        if (!place.background.pty) return expect(place.background.pty).toBe(false);
        const { process, seen } = await start(
          'trap "stty size 2>/dev/null || echo 22 77" WINCH; echo ready; while :; do sleep 0.1; done',
          {
            pty: true,
          },
        );
        await until('it is ready', () => seen.text.includes('ready'));
        process.resize(77, 22);
        await until('it saw its new size', () => seen.text.includes('22 77'));
        await process.write('\x03');
        expect(await process.exited).not.toBe(0);
      });
    });
  });
}
