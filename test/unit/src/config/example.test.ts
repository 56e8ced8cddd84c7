import { readFile } from 'node:fs/promises';
import { parseEnv } from 'node:util';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { ENV_BINDINGS } from '../../../../src/config/env.ts';
import { configJsonSchema } from '../../../../src/config/json-schema.ts';
import { configSchema } from '../../../../src/config/schema.ts';
import { allKeys } from '../../../../src/config/shape.ts';
import { testHome } from './home.ts';

const example = await readFile('config.example.yaml', 'utf8');

describe('config.example.yaml', () => {
  test('is valid and says what the defaults are', async () => {
    await using home = await testHome(example);
    const { config, warnings } = await home.load();
    expect(warnings).toEqual([]);
    expect(config).toEqual(configSchema.parse({}));
  });

  test('shows every key', () => {
    const written = new Set(leaves(parse(example)));
    const missing = allKeys().filter((key) => !written.has(key));
    expect(missing).toEqual([]);
    expect(written.size).toBeGreaterThan(150);
  });
});

function leaves(value: unknown, path: string[] = []): string[] {
  const isBlock =
    typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length > 0;
  return isBlock
    ? Object.entries(value).flatMap(([key, item]) => leaves(item, [...path, key]))
    : [path.join('.')];
}

describe('.env.example', () => {
  test('names only variables that are read, and sets none', async () => {
    const shown = parseEnv(await readFile('.env.example', 'utf8'));
    const known = new Set(ENV_BINDINGS.map(({ name }) => name));
    expect(Object.keys(shown).filter((name) => !known.has(name))).toEqual([]);
    expect(Object.values(shown).filter((value) => value !== '')).toEqual([]);
  });
});

describe('variables', () => {
  test('each stands for a key that exists', () => {
    const keys = new Set(allKeys());
    const isKnown = (path: string) => keys.has(path) || path.startsWith('platform_toolsets.');
    expect(ENV_BINDINGS.filter(({ path }) => !isKnown(path))).toEqual([]);
  });

  test.each([
    'OPENAI_API_KEY',
    'OPENAI_BASE_URL',
    'HERMES_MODEL',
    'TELEGRAM_BOT_TOKEN',
    'TELEGRAM_API_ROOT',
    'TELEGRAM_ALLOWED_USERS',
    'TELEGRAM_WEBHOOK_URL',
    'TELEGRAM_WEBHOOK_SECRET',
    'DISCORD_BOT_TOKEN',
    'DISCORD_API_ROOT',
    'DISCORD_ALLOWED_USERS',
    'SLACK_BOT_TOKEN',
    'SLACK_APP_TOKEN',
    'SLACK_SIGNING_SECRET',
    'SLACK_API_ROOT',
    'SLACK_ALLOWED_USERS',
    'SLACK_ADMIN_USERS',
    'SLACK_HOME_CHANNEL',
    'GATEWAY_ALLOWED_USERS',
    'GATEWAY_ALLOW_ALL_USERS',
    'GATEWAY_HOST',
    'GATEWAY_PORT',
    'GATEWAY_TOKEN',
    'HERMES_TELEGRAM_TOOLSETS',
    'HERMES_CLI_TOOLSETS',
    'HERMES_APPROVALS_MODE',
    'HERMES_APPROVALS_TIMEOUT',
    'TERMINAL_ENV',
    'TERMINAL_CWD',
    'TERMINAL_SSH_PORT',
    'TERMINAL_DOCKER_EXTRA_ARGS',
    'REDIS_URL',
    'DATABASE_URL',
    'LOG_LEVEL',
  ])('%s is read', (name) => {
    expect(ENV_BINDINGS.filter((binding) => binding.name === name)).toHaveLength(1);
  });
});

test('the JSON Schema describes keys by the example’s comments and lets a list be one text', async () => {
  const schema = await configJsonSchema();
  expect(schema).toMatchObject({
    properties: {
      approvals: {
        properties: {
          mode: {
            enum: ['manual', 'smart', 'off'],
            description: expect.stringContaining('a person decides'),
          },
          deny: { type: ['array', 'string', 'number'] },
        },
      },
    },
  });
  expect(JSON.stringify(schema)).not.toContain('"required"');
});
