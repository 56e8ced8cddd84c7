import { z } from 'zod';
import { missingScopes } from '../../platforms/slack/scopes.ts';
import type { Config } from '../config/schema.ts';
import { errorMessage, GatewayError } from '../errors.ts';

const callTimeoutMs = 10_000;

/**
 * Checks of keys and tokens by a real call, for `doctor` and `setup`. Each resolves with what it found, in words, and
 * rejects with `token_invalid` or `model_unauthorized` when the other side refuses the key, with
 * `platform_unreachable` when it could not be asked.
 */
export async function checkModel(model: Pick<Config['model'], 'base_url' | 'api_key'>): Promise<string> {
  const base = model.base_url || 'https://api.openai.com/v1';
  const response = await call(`${base.replace(/\/$/, '')}/models`, {
    authorization: `Bearer ${model.api_key}`,
  });
  if (response.status === 401 || response.status === 403) {
    throw new GatewayError('model_unauthorized', `${base} refuses the key (${response.status}).`, {
      mend: 'Check OPENAI_API_KEY.',
    });
  }
  return `${base} answers (${response.status})`;
}

type Bot<Platform extends 'telegram' | 'discord' | 'slack'> = Pick<Config[Platform], 'token' | 'api_root'>;

const telegramBot = z.object({ result: z.object({ username: z.string() }) });

export async function checkTelegram({ token, api_root }: Bot<'telegram'>): Promise<string> {
  const root = api_root || 'https://api.telegram.org';
  const refused = new GatewayError('token_invalid', 'Telegram does not know this token.', {
    mend: 'Copy it again from @BotFather into TELEGRAM_BOT_TOKEN.',
  });
  // It becomes a part of the address.
  if (!/^[\w:-]+$/.test(token)) throw refused;
  const response = await call(`${root}/bot${token}/getMe`);
  if (response.status === 401 || response.status === 404) throw refused;
  const { result } = await readAnswer(response, telegramBot);
  return `@${result.username} answers`;
}

/** discord.com/developers/docs/resources/application#application-object-application-flags */
const messageContentFlags = (1 << 18) | (1 << 19);
const application = z.object({ name: z.string().default('the bot'), flags: z.number().default(0) });

/** Rejects with `intent_missing` too: without that switch the bot hears nothing in channels. */
export async function checkDiscord({ token, api_root }: Bot<'discord'>): Promise<string> {
  const root = api_root || 'https://discord.com/api';
  const response = await call(`${root}/v10/applications/@me`, { authorization: `Bot ${token}` });
  if (response.status === 401) {
    throw new GatewayError('token_invalid', 'Discord does not know this token.', {
      mend: 'Copy it again from the developer portal (Bot → Reset Token) into DISCORD_BOT_TOKEN.',
    });
  }
  const { name, flags } = await readAnswer(response, application);
  if ((flags & messageContentFlags) === 0) {
    throw new GatewayError('intent_missing', `Discord does not let ${name} read messages.`, {
      mend: 'Switch on the Message Content Intent: discord.com/developers/applications → your app → Bot.',
    });
  }
  return `${name} answers and may read messages`;
}

/** The token may be a comma list, one a workspace. Scopes that it lacks are named with what fails without them. */
export async function checkSlack({ token, api_root }: Bot<'slack'>): Promise<string> {
  const found: string[] = [];
  for (const one of token.split(',')) {
    const { ok, scopes } = await askSlack(api_root, 'auth.test', one.trim());
    if (!ok) {
      throw new GatewayError('token_invalid', 'Slack refuses the bot token.', {
        mend: 'Install the app to the workspace again and copy the xoxb token into SLACK_BOT_TOKEN.',
      });
    }
    found.push(...missingScopes(scopes).map(({ scope, need }) => `${scope} (${need})`));
  }
  if (found.length === 0) return 'the bot answers and has every scope';
  throw new GatewayError(
    'platform_refused',
    `The Slack bot lacks scopes: ${[...new Set(found)].join(', ')}.`,
    {
      mend: 'Add them under OAuth & Permissions and install the app again; `setup slack` prints them all.',
    },
  );
}

/** The app-level token, which opens the socket. */
export async function checkSlackApp({
  app_token,
  api_root,
}: Pick<Config['slack'], 'app_token' | 'api_root'>): Promise<string> {
  if ((await askSlack(api_root, 'apps.connections.open', app_token)).ok) return 'the socket can be opened';
  throw new GatewayError('token_invalid', 'Slack refuses the app token.', {
    mend: 'Make one with the scope connections:write (Basic Information → App-Level Tokens) for SLACK_APP_TOKEN.',
  });
}

const slackAnswer = z.object({ ok: z.boolean() });

async function askSlack(
  apiRoot: string,
  method: string,
  token: string,
): Promise<{ ok: boolean; scopes: string[] | undefined }> {
  const root = (apiRoot || 'https://slack.com/api/').replace(/\/?$/, '/');
  const response = await call(`${root}${method}`, { authorization: `Bearer ${token}` }, 'POST');
  const { ok } = await readAnswer(response, slackAnswer);
  return { ok, scopes: response.headers.get('x-oauth-scopes')?.split(/,\s*/) };
}

/** A proxy's page or a failing server is no answer to the question. */
async function readAnswer<Answer>(response: Response, shape: z.ZodType<Answer>): Promise<Answer> {
  const body: unknown = await response.json().catch(() => null);
  const answer = shape.safeParse(body);
  if (response.ok && answer.success) return answer.data;
  throw new GatewayError(
    'platform_unreachable',
    `${new URL(response.url).host} gave no answer that could be read (${response.status}).`,
    { retryable: true, mend: 'Try again; then check a proxy, and the address in the configuration.' },
  );
}

/** The address may hold a token, so an error must not name it. */
const caused = z.object({ cause: z.object({ code: z.string() }) });

/** fetch says "fetch failed", and what failed in its cause: ECONNREFUSED, ENOTFOUND, a certificate. */
function reasonOf(error: unknown): string {
  const inner = caused.safeParse(error);
  return inner.success ? inner.data.cause.code : errorMessage(error);
}

async function call(url: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Response> {
  try {
    return await fetch(url, { method, headers, signal: AbortSignal.timeout(callTimeoutMs) });
  } catch (error) {
    throw new GatewayError(
      'platform_unreachable',
      `${URL.canParse(url) ? new URL(url).host : 'The address'} cannot be reached: ${reasonOf(error)}.`,
      {
        mend: 'Check the network, a proxy, and the address in the configuration.',
      },
    );
  }
}
