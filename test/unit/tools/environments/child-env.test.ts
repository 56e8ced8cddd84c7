import { expect, test } from 'vitest';
import { scrubbedEnv } from '../../../../tools/environments/child-env.ts';

test.each([
  'OPENAI_API_KEY',
  'TELEGRAM_BOT_TOKEN',
  'MY_SECRET',
  'DB_PASSWORD',
  'PGPASSWORD',
  'MYSQL_PWD',
  'AWS_SECRET_ACCESS_KEY',
  'GH_PAT',
  'SENTRY_DSN',
  'GATEWAY_TOKEN',
  'HERMES_HOME',
  'DATABASE_URL',
  'REDIS_URL',
  'github_token',
  'SMTP_PASS',
  'NPM_CONFIG__AUTH',
  'SESSION_COOKIE',
])('%s does not reach a command', (name) => {
  expect(scrubbedEnv({ [name]: 'x' })).toEqual({});
});

test('a URL with a password is hidden whatever its name', () => {
  expect(scrubbedEnv({ UPSTREAM: 'https://me:hunter2@host/', PLAIN: 'https://host/' })).toEqual({
    PLAIN: 'https://host/',
  });
});

test('ordinary variables pass, and secrets only when they are named', () => {
  const env = {
    PATH: '/bin',
    LANG: 'C',
    GIT_AUTHOR_NAME: 'a',
    PWD: '/',
    SSH_AUTH_SOCK: '/s',
    NPM_TOKEN: 'n',
    OTHER_TOKEN: 'o',
  };
  expect(scrubbedEnv(env, ['NPM_TOKEN'])).toEqual({
    PATH: '/bin',
    LANG: 'C',
    GIT_AUTHOR_NAME: 'a',
    PWD: '/',
    SSH_AUTH_SOCK: '/s',
    NPM_TOKEN: 'n',
  });
});
