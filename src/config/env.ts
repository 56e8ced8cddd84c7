import { readFile, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { errorMessage, GatewayError } from '../errors.ts';
import { hasCode } from './files.ts';

export type Env = Readonly<Record<string, string | undefined>>;

/** The state directory: `HERMES_HOME`, else `~/.hermes-gateway`. */
export function resolveHome(env: Env): string {
  const set = env['HERMES_HOME'];
  return set === undefined || set === '' ? join(homedir(), '.hermes-gateway') : resolve(set);
}

/** Reads `<home>/.env`; a missing file is an empty one. Others being able to read it is warned about. */
export async function readEnvFile(home: string): Promise<{ env: Env; warnings: string[] }> {
  const path = join(home, '.env');
  try {
    const [content, info] = await Promise.all([readFile(path, 'utf8'), stat(path)]);
    const open = process.platform !== 'win32' && (info.mode & 0o077) !== 0;
    const warning = `${path} holds secrets and can be read by other users of this machine. Run: chmod 600 ${path}`;
    return { env: parseEnv(content), warnings: open ? [warning] : [] };
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return { env: {}, warnings: [] };
    throw new GatewayError('config_invalid', `${path} cannot be read: ${errorMessage(error)}.`, {
      mend: 'Make it readable by the user that runs the gateway.',
      cause: error,
    });
  }
}

/** How the text of a variable becomes a value; what doesn't fit is left as text, for the schema to refuse. */
const readers = {
  text: (text: string): unknown => text,
  number: (text: string): unknown => (Number.isFinite(Number(text)) ? Number(text) : text),
  json: (text: string): unknown => {
    try {
      return JSON.parse(text);
    } catch {
      return text;
    }
  },
};

export interface EnvBinding {
  name: string;
  path: string;
  as: keyof typeof readers;
  /** A connection key: the variable wins over the file. */
  wins: boolean;
}

function bind(wins: boolean, as: EnvBinding['as'], pairs: Readonly<Record<string, string>>): EnvBinding[] {
  return Object.entries(pairs).map(([name, path]) => ({ name, path, as, wins }));
}

const platformSuffixes = {
  common:
    'TOKEN=BOT_TOKEN API_ROOT ALLOWED_USERS ADMIN_USERS ALLOW_ALL_USERS ALLOW_BOTS GROUP_ALLOWED_CHATS HOME_CHANNEL HOME_CHANNEL_NAME HOME_CHANNEL_THREAD_ID REQUIRE_MENTION REACTIONS REPLY_TO_MODE',
  telegram: 'WEBHOOK_URL WEBHOOK_SECRET MENTION_PATTERNS FREE_RESPONSE_CHATS IGNORED_THREADS',
  discord:
    'ALLOWED_ROLES ALLOWED_CHANNELS IGNORED_CHANNELS NO_THREAD_CHANNELS FREE_RESPONSE_CHANNELS AUTO_THREAD',
  slack: 'APP_TOKEN SIGNING_SECRET ALLOWED_CHANNELS FREE_RESPONSE_CHANNELS STRICT_MENTION',
};

/** `TELEGRAM_BOT_TOKEN` → `telegram.token`, `TELEGRAM_ALLOWED_USERS` → `telegram.allowed_users`, and so on. */
function platformBindings(platform: 'telegram' | 'discord' | 'slack'): EnvBinding[] {
  const words = `${platformSuffixes.common} ${platformSuffixes[platform]}`.split(' ');
  const pairs = words.map((word) => {
    const [key = '', suffix = key] = word.split('=');
    return [`${platform.toUpperCase()}_${suffix}`, `${platform}.${key.toLowerCase()}`] as const;
  });
  return bind(true, 'text', Object.fromEntries(pairs));
}

const terminalTexts =
  'CWD DOCKER_IMAGE DOCKER_FORWARD_ENV DOCKER_NETWORK DOCKER_MOUNT_CWD_TO_WORKSPACE SINGULARITY_IMAGE MODAL_IMAGE DAYTONA_IMAGE VERCEL_RUNTIME SSH_HOST SSH_USER SSH_KEY SANDBOX_DIR SCRATCH_DIR CONTAINER_PERSISTENT';
const terminalNumbers =
  'TIMEOUT MAX_FOREGROUND_TIMEOUT LIFETIME_SECONDS SSH_PORT CONTAINER_CPU CONTAINER_MEMORY CONTAINER_DISK';
const terminalJson = 'DOCKER_ENV DOCKER_VOLUMES DOCKER_EXTRA_ARGS';

function terminalBindings(words: string, as: EnvBinding['as']): EnvBinding[] {
  const pairs = words
    .split(' ')
    .map((word) => [`TERMINAL_${word}`, `terminal.${word.toLowerCase()}`] as const);
  return bind(false, as, Object.fromEntries(pairs));
}

const chatPlatforms = ['telegram', 'discord', 'slack', 'web', 'cli'];

/** Every variable that stands for a key of the configuration. */
export const ENV_BINDINGS: readonly EnvBinding[] = [
  ...bind(true, 'text', {
    OPENAI_API_KEY: 'model.api_key',
    OPENAI_BASE_URL: 'model.base_url',
    HERMES_MODEL: 'model.name',
    GATEWAY_HOST: 'gateway.host',
    GATEWAY_TOKEN: 'gateway.token',
    GATEWAY_ALLOWED_USERS: 'gateway.allowed_users',
    GATEWAY_ALLOW_ALL_USERS: 'gateway.allow_all_users',
    REDIS_URL: 'redis_url',
    DATABASE_URL: 'database_url',
    LOG_LEVEL: 'log_level',
  }),
  ...bind(true, 'number', { GATEWAY_PORT: 'gateway.port' }),
  ...platformBindings('telegram'),
  ...platformBindings('discord'),
  ...platformBindings('slack'),
  ...bind(
    false,
    'text',
    Object.fromEntries(
      chatPlatforms.map((name) => [`HERMES_${name.toUpperCase()}_TOOLSETS`, `platform_toolsets.${name}`]),
    ),
  ),
  ...bind(false, 'text', {
    HERMES_APPROVALS_MODE: 'approvals.mode',
    HERMES_REDACT_SECRETS: 'security.redact_secrets',
    TERMINAL_ENV: 'terminal.backend',
    TERMINAL_LOCAL_PERSISTENT: 'terminal.persistent_shell',
  }),
  ...bind(false, 'number', {
    HERMES_APPROVALS_TIMEOUT: 'approvals.timeout',
    HERMES_MAX_ITERATIONS: 'agent.max_turns',
    HERMES_AGENT_TIMEOUT: 'agent.gateway_timeout',
    HERMES_AGENT_TIMEOUT_WARNING: 'agent.gateway_timeout_warning',
    HERMES_RESTART_DRAIN_TIMEOUT: 'agent.restart_drain_timeout',
    HERMES_API_TIMEOUT: 'model.request_timeout',
    HERMES_STREAM_READ_TIMEOUT: 'model.stream_read_timeout',
    HERMES_STREAM_STALE_TIMEOUT: 'model.stream_stale_timeout',
    SESSION_IDLE_MINUTES: 'session_reset.idle_minutes',
    SESSION_RESET_HOUR: 'session_reset.at_hour',
  }),
  ...terminalBindings(terminalTexts, 'text'),
  ...terminalBindings(terminalNumbers, 'number'),
  ...terminalBindings(terminalJson, 'json'),
];

/** The values that the environment sets. An empty variable counts as not set. */
export function envValues(env: Env): { binding: EnvBinding; value: unknown }[] {
  return ENV_BINDINGS.flatMap((binding) => {
    const text = env[binding.name]?.trim();
    return text === undefined || text === '' ? [] : [{ binding, value: readers[binding.as](text) }];
  });
}
