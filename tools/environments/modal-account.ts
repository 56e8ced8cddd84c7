import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { ModalClient } from 'modal';
import { z } from 'zod';
import { errorMessage, GatewayError } from '../../src/errors.ts';
import { rememberSecret } from '../../src/redact.ts';
import { CloudError, type CloudService, refusal } from './cloud-http.ts';
import type { OpenContext } from './options.ts';

/** Modal's client with the credentials of somebody, and what its refusals mean to them. */
export interface ModalAccount {
  client: ModalClient;
  host: string;
  /** Where the credential comes from, for messages. */
  credential: string;
  /** What the service answers, or a `CloudError` that says which credential was used and what to do. */
  ask<T>(what: string, act: () => Promise<T>): Promise<T>;
}

type Env = OpenContext['env'];

const defaultUrl = 'https://api.modal.com:443';
/** A service that asks for a longer pause is told of rather than waited for. */
const longestPauseSeconds = 20;

interface Credentials {
  tokenId: string;
  tokenSecret: string;
  serverUrl: string;
  environment: string | undefined;
  source: string;
}

export async function openModalAccount({
  env,
  log,
}: Pick<OpenContext, 'env' | 'log'>): Promise<ModalAccount> {
  const credentials = await credentialsOf(env);
  rememberSecret(credentials.tokenSecret);
  const service = serviceOf(credentials);
  const client = await clientOf(credentials, (text) => log.warn({ says: text }, 'Modal warns.'));
  return {
    client,
    host: new URL(credentials.serverUrl).host,
    credential: credentials.source,
    async ask(what, act) {
      try {
        return await act();
      } catch (error) {
        throw told(service, what, error);
      }
    },
  };
}

const clients = new Map<string, ModalClient>();

/** One for all environments, since it has a connection that it never ends. */
async function clientOf(credentials: Credentials, warn: (text: string) => void): Promise<ModalClient> {
  const { tokenId, tokenSecret, serverUrl, environment } = credentials;
  const key = JSON.stringify([tokenId, tokenSecret, serverUrl, environment]);
  const { ModalClient: Client } = await import('modal');
  const known = clients.get(key);
  if (known !== undefined) return known;
  const quiet = () => undefined;
  const client = withServerUrl(
    serverUrl,
    () =>
      new Client({
        tokenId,
        tokenSecret,
        ...(environment !== undefined && { environment }),
        maxThrottleWaitSecs: longestPauseSeconds,
        logger: { debug: quiet, info: quiet, warn: (text) => warn(text), error: (text) => warn(text) },
      }),
  );
  clients.set(key, client);
  return client;
}

/** The client takes its address from the process's variables alone, and reads it while it is made. */
function withServerUrl<T>(url: string, make: () => T): T {
  const before = process.env['MODAL_SERVER_URL'];
  process.env['MODAL_SERVER_URL'] = url;
  try {
    return make();
  } finally {
    if (before === undefined) delete process.env['MODAL_SERVER_URL'];
    else process.env['MODAL_SERVER_URL'] = before;
  }
}

const howTo =
  'Make a token at modal.com → Settings → API Tokens and set MODAL_TOKEN_ID and MODAL_TOKEN_SECRET in <home>/.env, or run `modal token new`.';

/** The variables if one of them is set, else the profile of Modal's own file. */
async function credentialsOf(env: Env): Promise<Credentials> {
  const profile = await profileOf(env);
  const serverUrl = env['MODAL_SERVER_URL'] || profile?.server_url || defaultUrl;
  if (!URL.canParse(serverUrl))
    throw refused('MODAL_SERVER_URL is not an address.', `Default: ${defaultUrl}`);
  const more = { serverUrl, environment: env['MODAL_ENVIRONMENT'] || profile?.environment };
  const [tokenId = '', tokenSecret = ''] = [env['MODAL_TOKEN_ID'], env['MODAL_TOKEN_SECRET']];
  if (tokenId !== '' || tokenSecret !== '') {
    const missing = tokenId === '' ? 'MODAL_TOKEN_ID' : 'MODAL_TOKEN_SECRET';
    if (tokenId === '' || tokenSecret === '')
      throw refused(`Modal needs a pair: ${missing} is not set.`, howTo);
    return { ...more, tokenId, tokenSecret, source: 'MODAL_TOKEN_ID and MODAL_TOKEN_SECRET' };
  }
  if (profile?.token_id && profile.token_secret) {
    const { token_id, token_secret, source } = profile;
    return { ...more, tokenId: token_id, tokenSecret: token_secret, source };
  }
  const looked = profile === null ? configFile(env) : `${profile.source}, which has no token`;
  throw refused(`Modal needs a token: neither the variables nor ${looked} hold one.`, howTo);
}

const profileShape = z.object({
  token_id: z.string().optional(),
  token_secret: z.string().optional(),
  server_url: z.string().optional(),
  environment: z.string().optional(),
  active: z.boolean().optional(),
});
const fileShape = z.record(z.string(), profileShape);

const configFile = (env: Env) => env['MODAL_CONFIG_PATH'] || join(env['HOME'] || homedir(), '.modal.toml');

/** The section of Modal's file that `modal profile` chose. Null without such a file or section. */
async function profileOf(env: Env) {
  const file = configFile(env);
  const text = await readFile(file, 'utf8').catch(() => null);
  if (text === null) return null;
  const profiles = await parseProfiles(file, text);
  const active = Object.keys(profiles).find((name) => profiles[name]?.active === true);
  const name = env['MODAL_PROFILE'] || active || 'default';
  const profile = profiles[name];
  if (profile === undefined && env['MODAL_PROFILE']) {
    throw refused(
      `${file} has no profile ${name}.`,
      'Set MODAL_PROFILE to one of its sections, or leave it out.',
    );
  }
  return profile === undefined ? null : { ...profile, source: `${file} [${name}]` };
}

async function parseProfiles(file: string, text: string): Promise<z.infer<typeof fileShape>> {
  const { parse } = await import('smol-toml');
  try {
    return fileShape.parse(parse(text));
  } catch {
    // What is wrong with it may show the secret next to it.
    throw refused(`${file} cannot be read.`, 'Write it anew with `modal token new`.');
  }
}

function refused(message: string, mend: string): GatewayError {
  return new GatewayError('environment_refused', message, { mend });
}

function serviceOf({ serverUrl, source, tokenSecret }: Credentials): CloudService {
  return {
    name: 'Modal',
    baseUrl: serverUrl,
    token: tokenSecret,
    credential: source,
    mends: {
      unauthorized: `The token is wrong, revoked or of another workspace. ${howTo}`,
      forbidden: 'Make a token of a member who may use sandboxes in this workspace and environment.',
      quota: 'Look at the usage and limits of the workspace at modal.com → Settings.',
      unreachable: `Check the network, and MODAL_SERVER_URL if the server is your own (default ${defaultUrl}).`,
    },
  };
}

/** gRPC status codes (grpc.io/docs/guides/status-codes) in the words that the other services use. */
const statusOfCode: Readonly<Record<number, number>> = {
  3: 400,
  5: 404,
  6: 409,
  7: 403,
  8: 429,
  9: 409,
  13: 500,
  16: 401,
};

/** The library's own classes, by name: what they mean for the sandbox. */
const statusOfName: Readonly<Record<string, number>> = {
  AlreadyExistsError: 409,
  ConflictError: 410,
  InvalidError: 400,
  NotFoundError: 404,
  RemoteError: 400,
  ResourceExhaustedError: 429,
};

function told(service: CloudService, what: string, error: unknown): GatewayError {
  if (error instanceof GatewayError) return error;
  const status = error instanceof Error ? statusOf(error) : null;
  const said = error instanceof Error && 'details' in error ? String(error.details) : errorMessage(error);
  if (status !== null) return refusal(service, what, new Response(null, { status }), said);
  const { host } = new URL(service.baseUrl);
  return new CloudError(null, `Modal cannot be reached at ${host} (${what}): ${said}`, {
    retryable: true,
    mend: service.mends.unreachable,
    cause: error,
  });
}

/** Null: no answer, so whether anything was done is unknown. */
function statusOf(error: Error): number | null {
  if ('code' in error && typeof error.code === 'number') return statusOfCode[error.code] ?? null;
  if (error.message.startsWith('Image build for')) return 400;
  return statusOfName[error.name] ?? null;
}
