import { execFile, spawn } from 'node:child_process';
import { appendFile, cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';

const run = promisify(execFile);
const copied = [
  'bin',
  'src',
  'platforms',
  'tools',
  'toolsets',
  'build.js',
  'package.json',
  'config.example.yaml',
];
const toolList = z.array(z.object({ name: z.string() }).loose());

/** What `npm ci` leaves in `dist`, on a copy of the program. */
describe('the built program', () => {
  let root = '';
  let home = '';
  const environment = () => ({ PATH: process.env['PATH'] ?? '', HOME: home, HERMES_HOME: home });

  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'hermes-built-'));
    home = join(root, 'home');
    await mkdir(home);
    for (const name of copied)
      await cp(name, join(root, name), { recursive: true, preserveTimestamps: true });
    await symlink(resolve('node_modules'), join(root, 'node_modules'));
    await run(process.execPath, [join(root, 'build.js')]);
  });
  afterAll(() => rm(root, { recursive: true, force: true }));

  async function cli(folder: string, ...args: string[]): Promise<string> {
    const argv = [join(folder, 'bin', 'hermes-gateway.js'), ...args];
    return (await run(process.execPath, argv, { env: environment() })).stdout;
  }

  /** A mark in a built file shows which of the two ran. */
  async function markBuilt(): Promise<void> {
    const file = join(root, 'dist', 'src', 'cli', 'main.js');
    await writeFile(file, `console.error('built');\n${await readFile(file, 'utf8')}`);
  }

  async function ranBuilt(): Promise<boolean> {
    const argv = [join(root, 'bin', 'hermes-gateway.js'), 'tools', 'list', '--json'];
    return (await run(process.execPath, argv, { env: environment() })).stderr.includes('built');
  }

  it('has the tools, the schema and the toolsets of the sources', async () => {
    for (const args of [
      ['tools', 'list', '--json'],
      ['config', 'schema'],
      ['toolsets', 'list', '--json'],
    ]) {
      expect(await cli(root, ...args)).toBe(await cli('.', ...args));
    }
  });

  it('serves the page', async () => {
    const child = spawn(process.execPath, [join(root, 'bin', 'hermes-gateway.js'), 'start', '--port', '0'], {
      env: environment(),
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    try {
      const address = await new Promise<string>((found) => {
        let text = '';
        child.stdout.on('data', (chunk: Buffer) => {
          text += chunk.toString();
          const url = /http:\S+/.exec(text)?.[0];
          if (url !== undefined) found(url);
        });
      });
      const { origin, search } = new URL(address);
      const signedIn = await fetch(`${origin}/${search}`, { redirect: 'manual' });
      const cookie = signedIn.headers.get('set-cookie') ?? '';
      for (const path of ['/', '/web/chat.js', '/web/marked.js', '/web/theme.css']) {
        expect((await fetch(`${origin}${path}`, { headers: { cookie } })).status, path).toBe(200);
      }
    } finally {
      const gone = new Promise((end) => child.once('exit', end));
      child.kill();
      await gone;
    }
  });

  it('gives way to the sources once one of them is newer, was added or removed', async () => {
    await markBuilt();
    expect(await ranBuilt()).toBe(true);

    const added = join(root, 'tools', 'greet.ts');
    await writeFile(
      added,
      "import { registry } from './registry.ts';\n\nregistry.register({ name: 'greet', toolset: 'greetings', schema: { description: 'Greets.', parameters: { type: 'object' } }, handler: () => '{}' });\n",
    );
    expect(await ranBuilt()).toBe(false);
    expect(
      toolList.parse(JSON.parse(await cli(root, 'tools', 'list', '--json'))).map((tool) => tool.name),
    ).toContain('greet');

    await run(process.execPath, [join(root, 'build.js')]);
    await markBuilt();
    expect(await ranBuilt()).toBe(true);
    expect(await cli(root, 'tools', 'list')).toContain('greet');

    await rm(added);
    expect(await ranBuilt()).toBe(false);
  });

  it('keeps what a running gateway may still load, for one build', async () => {
    const chunks = () => readdir(join(root, 'dist', 'chunks'));
    const edit = async (line: string) => {
      await appendFile(join(root, 'src', 'cli', 'pair.ts'), `console.debug('${line}');\n`);
      await run(process.execPath, [join(root, 'build.js')]);
      return (await chunks()).filter((name) => name.startsWith('pair-'));
    };
    await run(process.execPath, [join(root, 'build.js')]);
    const [first] = (await chunks()).filter((name) => name.startsWith('pair-'));
    expect(await edit('one')).toEqual(expect.arrayContaining([first]));
    expect(await edit('two')).not.toContain(first);
  });
});
