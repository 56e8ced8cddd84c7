import { mkdir } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { isSecretKey } from '../../../../src/config/schema.ts';
import { redactSecrets } from '../../../../src/redact.ts';
import { testHome } from './home.ts';

describe('without a file', () => {
  test('every key has its default', async () => {
    await using home = await testHome();
    const { config, warnings, sources } = await home.load();
    expect(config.approvals).toMatchObject({
      mode: 'manual',
      timeout: 300,
      cli_timeout: 60,
      in_containers: 'skip',
    });
    expect(config.session_reset).toMatchObject({ mode: 'both', at_hour: 4, idle_minutes: 1440 });
    expect(config.agent.max_turns).toBe(90);
    expect(config.gateway).toMatchObject({ host: '127.0.0.1', port: 8642 });
    expect(config.tools.strict_collisions).toBe(false);
    expect({ warnings, sources }).toEqual({ warnings: [], sources: {} });
  });

  test('a file that was asked for by name must be there', async () => {
    await using home = await testHome();
    const error = await home.refusal({ file: `${home.path}/other.yaml` });
    expect(error.code).toBe('config_invalid');
    expect(error.message).toContain('other.yaml cannot be read');
  });
});

describe('precedence', () => {
  test('the file wins over the environment', async () => {
    await using home = await testHome('approvals: {timeout: 10}\n');
    const { config, sources } = await home.load({
      env: { HERMES_APPROVALS_TIMEOUT: '20', HERMES_MAX_ITERATIONS: '7' },
    });
    expect(config.approvals.timeout).toBe(10);
    expect(config.agent.max_turns).toBe(7);
    expect(sources).toEqual({
      'approvals.timeout': 'config.yaml',
      'agent.max_turns': 'HERMES_MAX_ITERATIONS',
    });
  });

  test('a connection key of the environment wins over the file', async () => {
    await using home = await testHome('telegram: {token: from-file, pace: off}\nmodel: some-model\n');
    const { config } = await home.load({ env: { TELEGRAM_BOT_TOKEN: 'from-env', HERMES_MODEL: 'demo' } });
    expect(config.telegram).toMatchObject({ token: 'from-env', pace: 'off' });
    expect(config.model.name).toBe('demo');
  });

  test('the command line wins over all', async () => {
    await using home = await testHome('toolsets: [a]\ngateway: {port: 1}\n');
    const { config } = await home.load({
      env: { GATEWAY_PORT: '2' },
      flags: { 'gateway.port': 3, toolsets: ['b', 'c'] },
    });
    expect(config.gateway.port).toBe(3);
    expect(config.toolsets).toEqual(['b', 'c']);
  });

  test('the process environment wins over <home>/.env, unless it is empty', async () => {
    await using home = await testHome();
    await home.writeEnv('OPENAI_API_KEY=key-of-the-file\nTELEGRAM_BOT_TOKEN=file\nTAVILY_API_KEY=t\n');
    const { config, env } = await home.load({ env: { TELEGRAM_BOT_TOKEN: 'process', OPENAI_API_KEY: '' } });
    expect(config.telegram.token).toBe('process');
    expect(config.model.api_key).toBe('key-of-the-file');
    expect(env['TAVILY_API_KEY']).toBe('t');
  });
});

describe('what people write', () => {
  test.each(['off', 'false', 'no', '"off"'])('approvals.mode %s is the mode off', async (word) => {
    await using home = await testHome(`approvals:\n  mode: ${word}\n`);
    expect((await home.load()).config.approvals.mode).toBe('off');
  });

  test('ids may be numbers, one or many, and a big one keeps its last digits', async () => {
    await using home = await testHome(
      'discord: {allowed_users: [1234567890123456789, 7]}\ntelegram: {allowed_users: 42}\n',
    );
    const { config } = await home.load({ env: { SLACK_ALLOWED_USERS: ' U1, U2 ,' } });
    expect(config.discord.allowed_users).toEqual(['1234567890123456789', '7']);
    expect(config.telegram.allowed_users).toEqual(['42']);
    expect(config.slack.allowed_users).toEqual(['U1', 'U2']);
  });

  test('an allowlist written as one text is one entry, commas and all', async () => {
    await using home = await testHome('command_allowlist: "rm -rf {a,b}"\n');
    expect((await home.load()).config.command_allowlist).toEqual(['rm -rf {a,b}']);
  });

  test('an empty block is a block of defaults', async () => {
    await using home = await testHome('telegram:\nlimits:\n  max_concurrent_sessions: null\n');
    const { config } = await home.load();
    expect(config.telegram.pace).toBe('on');
    expect(config.limits.max_concurrent_sessions).toBeUndefined();
  });

  test('platforms.<name> with extra is the same block, and the block itself wins', async () => {
    await using home = await testHome(
      'platforms:\n  telegram:\n    enabled: false\n    token: t1\n    extra: {require_mention: false, pace: off}\ntelegram: {token: t2}\n',
    );
    const { config, warnings } = await home.load();
    expect(config.telegram).toMatchObject({
      enabled: false,
      token: 't2',
      require_mention: false,
      pace: 'off',
    });
    expect(warnings).toEqual([]);
  });

  test('a fallback provider may be a name alone', async () => {
    await using home = await testHome(
      'fallback_providers: [small, {model: big, base_url: "http://localhost:1/v1"}]\n',
    );
    expect((await home.load()).config.fallback_providers).toMatchObject([
      { model: 'small' },
      { model: 'big' },
    ]);
  });

  test('a key that moved still works and says so', async () => {
    await using home = await testHome('approvals: {gateway_timeout: 120}\n');
    const { config, warnings } = await home.load();
    expect(config.approvals.timeout).toBe(120);
    expect(warnings).toEqual([
      'config.yaml: approvals.gateway_timeout is now called approvals.timeout; the old name still works.',
    ]);
  });
});

describe('${VAR}', () => {
  test('is filled in from the environment', async () => {
    await using home = await testHome('telegram: {token: "${MY_TOKEN}"}\nterminal: {cwd: "${HOME}/w"}\n');
    const { config } = await home.load({ env: { MY_TOKEN: 'abc', HOME: '/h' } });
    expect(config.telegram.token).toBe('abc');
    expect(config.terminal.cwd).toBe('/h/w');
  });

  test('that is not set stays as it is in a text, and makes a secret count as not set', async () => {
    await using home = await testHome('telegram: {token: "${NOPE}"}\nterminal: {cwd: "${NOPE}/w"}\n');
    const { config, warnings } = await home.load();
    expect(config.telegram.token).toBe('');
    expect(config.terminal.cwd).toBe('${NOPE}/w');
    expect(warnings).toHaveLength(2);
    expect(warnings[0]).toContain('telegram.token names the variable NOPE, which is not set');
  });
});

describe('a fault', () => {
  test('in a value names the key, the line, the value and what was expected', async () => {
    await using home = await testHome('# mine\napprovals:\n  mode: smart\n  timeout: soon\n');
    const error = await home.refusal();
    expect(error.code).toBe('config_invalid');
    expect(error.message).toBe('config.yaml, line 4: approvals.timeout is "soon"; expected a number.');
    expect(error.mend).toContain('config.example.yaml');
  });

  test('in a choice lists the choices', async () => {
    await using home = await testHome('approvals: {mode: loud}\n');
    expect((await home.refusal()).message).toContain(
      'approvals.mode is "loud"; expected manual, smart or off.',
    );
  });

  test('in a list item names its line', async () => {
    await using home = await testHome(
      'fallback_providers:\n  - model: a\n  - model: b\n    base_url: ftp://x\n',
    );
    expect((await home.refusal()).message).toBe(
      'config.yaml, line 4: fallback_providers.1.base_url is "ftp://x"; expected an address that begins with http:// or https://.',
    );
  });

  test('in platforms.<name>.extra names the line there', async () => {
    await using home = await testHome('platforms:\n  telegram:\n    extra:\n      pace: 7\n');
    expect((await home.refusal()).message).toContain('config.yaml, line 4: telegram.pace is 7');
  });

  test('in a variable names the variable', async () => {
    await using home = await testHome();
    const error = await home.refusal({ env: { GATEWAY_PORT: 'http' } });
    expect(error.message).toBe('the variable GATEWAY_PORT: gateway.port is "http"; expected a number.');
  });

  test('in a secret never shows the secret', async () => {
    await using home = await testHome('telegram:\n  token: [s3cr3t-value]\n');
    const error = await home.refusal();
    expect(error.message).toContain('telegram.token is hidden');
    expect(JSON.stringify(error) + error.stack).not.toContain('s3cr3t');
  });

  test('in the YAML names the line and does not quote it', async () => {
    await using home = await testHome('telegram:\n  token: "s3cr3t-value\nagent: {}\n');
    const error = await home.refusal();
    expect(error.message).toMatch(/^config\.yaml, line \d+, column \d+: the YAML is broken: /);
    expect(JSON.stringify(error) + String(error.stack)).not.toContain('s3cr3t');
  });

  test('of several is told together', async () => {
    await using home = await testHome('agent: {max_turns: 0}\ntelegram: {pace: fast}\n');
    expect((await home.refusal()).message.split('\n')).toHaveLength(2);
  });

  test('a file that is a list is refused', async () => {
    await using home = await testHome('- a\n');
    expect((await home.refusal()).message).toContain('is not a block of keys');
  });
});

describe('an unknown key', () => {
  test('is warned about with its line and the likely name, and the rest applies', async () => {
    await using home = await testHome('approvals:\n  timout: 5\n  mode: smart\nfoo: 1\n');
    const { config, warnings } = await home.load();
    expect(config.approvals.mode).toBe('smart');
    expect(warnings).toEqual([
      'config.yaml, line 2: the key approvals.timout is not known. It is ignored. Did you mean approvals.timeout?',
      'config.yaml, line 4: the key foo is not known. It is ignored.',
    ]);
  });

  test('beside a fault doesn’t hide the fault', async () => {
    await using home = await testHome('foo: 1\nagent: {max_turns: many}\n');
    expect((await home.refusal()).message).toContain('agent.max_turns');
  });
});

describe('secrets', () => {
  test('are known to the log filter once loaded', async () => {
    await using home = await testHome('slack: {token: "tok-aaaaaaaa,tok-bbbbbbbb"}\n');
    await home.load({ env: { DATABASE_URL: 'postgres://u:hunter2hunter2@db/x' } });
    expect(redactSecrets('tok-bbbbbbbb hunter2hunter2 @db')).toBe('[redacted] [redacted] @db');
  });

  test.each([
    ['telegram.token', true],
    ['mcp_servers.mail.env.API_TOKEN', true],
    ['mcp_servers.mail.headers.Authorization', true],
    ['slack.signing_secret', true],
    ['model.max_tokens', false],
    ['tool_output.max_bytes', false],
  ])('%s: %s', (path, secret) => {
    expect(isSecretKey(path)).toBe(secret);
  });

  test('in an .env that others may read are warned about', async () => {
    await using home = await testHome();
    await home.writeEnv('A=1\n', 0o644);
    expect((await home.load()).warnings[0]).toContain('chmod 600');
  });

  test('an .env that cannot be read is named', async () => {
    await using home = await testHome();
    await mkdir(`${home.path}/.env`);
    expect((await home.refusal()).message).toContain('.env cannot be read');
  });
});
