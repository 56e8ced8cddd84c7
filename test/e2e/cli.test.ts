import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

/** The command line as scripts use it: names, shapes and exit codes are fixed. */
describe('the command line', () => {
  let home = '';
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'hermes-cli-'));
  });
  afterEach(() => rm(home, { recursive: true, force: true }));

  async function run(
    args: string[],
    input = '',
    env: Record<string, string> = {},
  ): Promise<{ code: number | null; out: string; err: string }> {
    const child = spawn(process.execPath, ['bin/hermes-gateway.js', ...args], {
      env: { PATH: process.env['PATH'] ?? '', HOME: home, HERMES_HOME: home, ...env },
    });
    let out = '';
    let err = '';
    child.stdout.on('data', (chunk: Buffer) => {
      out += chunk.toString();
    });
    child.stderr.on('data', (chunk: Buffer) => {
      err += chunk.toString();
    });
    child.stdin.end(input);
    const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
    return { code, out, err };
  }

  it('judges commands given as JSON Lines, one line each, and survives a bad one', async () => {
    const lines = ['"ls -la"', '{"command":"rm -r build","cwd":"/work"}', '{"nonsense":1}', '"rm -rf /"'];
    const { code, out } = await run(['approvals', 'check', '--json'], `${lines.join('\n')}\n`);
    const verdicts = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(code).toBe(0);
    expect(verdicts).toMatchObject([
      { verdict: 'safe', category: null, routine: false, commands: ['ls -la'] },
      { verdict: 'dangerous', category: 'recursive-delete', commands: ['rm -r build'] },
      { error: expect.stringContaining('neither') },
      { verdict: 'forbidden', category: 'wipe-root' },
    ]);
  });

  it('says what a platform and a toolset resolve to', async () => {
    const platform = JSON.parse((await run(['toolsets', 'platform', 'telegram', '--json'])).out);
    expect(platform).toMatchObject({
      name: 'telegram',
      tools: expect.arrayContaining(['terminal', 'read_file', 'todo']),
    });
    expect(platform.unavailable).toContainEqual({
      tool: 'web_search',
      reason: expect.any(String),
      env: expect.any(Array),
    });
    const terminal = JSON.parse((await run(['toolsets', 'show', 'terminal', '--json'])).out);
    expect(terminal).toEqual({ name: 'terminal', tools: ['process', 'terminal'], unavailable: [] });
  });

  it('lists every tool with its toolset and whether it can be offered', async () => {
    const tools = JSON.parse((await run(['tools', 'list', '--json'])).out);
    expect(tools).toContainEqual(
      expect.objectContaining({ name: 'terminal', toolset: 'terminal', available: true }),
    );
  });

  it('ends with 2 on wrong usage and with 78 on a broken configuration, whose line it names', async () => {
    expect((await run(['toolsets', 'show', 'no-such-set'])).code).toBe(2);
    await writeFile(join(home, 'config.yaml'), 'agent:\n  max_turns: many\n');
    const broken = await run(['config', 'check']);
    expect(broken.code).toBe(78);
    expect(broken.err).toMatch(/line 2/);
    expect(broken.err).toMatch(/agent\.max_turns/);
  });

  it.each([
    [['no-such-command']],
    [['start', '--no-such-option']],
    [['start', '--port', 'abc']],
    [['toolsets', 'platform', 'telgram']],
    [['pair', 'approve', 'telgram', 'CODE']],
    [['approvals', 'allow', 'rm -rf /']],
  ])('ends %j with 2 and says the next step', async (args) => {
    const { code, out, err } = await run(args);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err.trim().split('\n').length).toBeGreaterThan(1);
  });

  it('tells a list of toolsets that takes away what is not there', async () => {
    await writeFile(join(home, 'config.yaml'), 'platform_toolsets:\n  telegram: [-terminl]\n');
    const { code, out, err } = await run(['toolsets', 'platform', 'telegram', '--json']);
    expect({ code, tools: JSON.parse(out).tools }).toEqual({
      code: 0,
      tools: expect.arrayContaining(['terminal']),
    });
    expect(err).toContain('terminl');
  });

  it('keeps the allowlist in config.yaml, comments and all, and the audit whole', async () => {
    await writeFile(join(home, 'config.yaml'), '# mine\ncommand_allowlist:\n  - make *   # builds\n');
    await run(['approvals', 'allow', 'npm test']);
    expect((await run(['approvals', 'list'])).out.trim().split('\n')).toEqual(['make *', 'npm test']);
    expect((await run(['approvals', 'forget', 'make *'])).code).toBe(0);
    expect((await run(['approvals', 'list'])).out.trim()).toBe('npm test');
    expect((await run(['approvals', 'audit', '--verify'])).code).toBe(0);
  });

  it('refuses an entry that would allow every command', async () => {
    const { code, err } = await run(['approvals', 'allow', '*']);
    expect(code).toBe(2);
    expect(err).toContain('approvals.mode');
    expect((await run(['approvals', 'list'])).out).toBe('');
  });

  it('tells a script whether the gateway runs, and whether a question was answered', async () => {
    const asked = await run(['status', '--json']);
    expect(JSON.parse(asked.out)).toEqual({ running: false });
    expect(asked.code).toBe(1);

    expect((await run(['chat', '-q', 'help'])).code).toBe(0);
    const unreachable = {
      OPENAI_API_KEY: 'sk-none',
      OPENAI_BASE_URL: 'http://127.0.0.1:1/v1',
      HERMES_MODEL: 'some-model',
    };
    expect((await run(['chat', '-q', 'help'], '', unreachable)).code).toBe(1);
  }, 60_000);

  it('ends quietly when its reader leaves early', async () => {
    const child = spawn(process.execPath, ['bin/hermes-gateway.js', 'toolsets', 'list'], {
      env: { PATH: process.env['PATH'] ?? '', HOME: home, HERMES_HOME: home },
    });
    let err = '';
    child.stderr.on('data', (chunk: Buffer) => {
      err += chunk.toString();
    });
    child.stdout.destroy();
    const code = await new Promise((resolve) => child.on('close', resolve));
    expect({ code, err }).toEqual({ code: 0, err: '' });
  });
});
