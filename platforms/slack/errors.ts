import { z } from 'zod';
import { type ErrorCode, GatewayError } from '../../src/errors.ts';

/** Whether a repeated call could show something twice: then a lost answer must not be taken for a failure. */
export type Effect = 'send' | 'repeatable';

interface Meaning {
  code: ErrorCode;
  retryable?: boolean;
  mend?: string;
}

const tokenMend = 'Install the app again and put its Bot User OAuth Token (xoxb-…) into SLACK_BOT_TOKEN.';

/** Slack's error codes that mean more than "refused". docs.slack.dev/reference/methods, "Errors". */
const meanings: Readonly<Record<string, Meaning>> = {
  invalid_auth: { code: 'token_invalid', mend: tokenMend },
  not_authed: { code: 'token_invalid', mend: tokenMend },
  account_inactive: { code: 'token_invalid', mend: tokenMend },
  token_revoked: { code: 'token_invalid', mend: tokenMend },
  token_expired: { code: 'token_invalid', mend: tokenMend },
  user_removed_from_team: { code: 'token_invalid', mend: tokenMend },
  team_disabled: { code: 'token_invalid', mend: tokenMend },
  not_allowed_token_type: {
    code: 'token_invalid',
    mend: 'SLACK_BOT_TOKEN takes an xoxb- token, SLACK_APP_TOKEN an xapp- token with connections:write.',
  },
  channel_not_found: { code: 'chat_gone' },
  not_in_channel: { code: 'chat_gone', mend: 'Invite the bot to the channel: /invite @bot.' },
  is_archived: { code: 'chat_gone' },
  user_not_found: { code: 'chat_gone' },
  user_disabled: { code: 'chat_gone' },
  cannot_dm_bot: { code: 'chat_gone' },
  service_unavailable: { code: 'platform_unreachable', retryable: true },
  team_added_to_org: { code: 'platform_unreachable', retryable: true },
};

/** Codes after which Slack says that part of the call may have happened. */
const unsure: ReadonlySet<string> = new Set(['internal_error', 'fatal_error', 'request_timeout']);

/** Connection failures before anything of the request left this machine. */
const neverLeft: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** The wait when Slack names none. */
const unsaidDelayMs = 1000;

const platformError = z.object({ data: z.object({ error: z.string(), needed: z.string().optional() }) });
const rateLimited = z.object({ retryAfter: z.number() });
const httpError = z.object({ statusCode: z.number() });
const requestError = z.object({ original: z.instanceof(Error) });

/** Maps whatever the Web API client threw. The message names the method, never an argument or a token. */
export function toGatewayError(thrown: unknown, method: string, effect: Effect): GatewayError {
  if (thrown instanceof GatewayError) return thrown;
  const platform = platformError.safeParse(thrown);
  if (platform.success) return fromCode(platform.data.data.error, method, effect, platform.data.data.needed);
  const limited = rateLimited.safeParse(thrown);
  if (limited.success) return slowDown(method, limited.data.retryAfter * 1000);
  // A 429 without its header has no class of its own in the client.
  if (thrown instanceof Error && thrown.message.startsWith('Retry header'))
    return slowDown(method, unsaidDelayMs);
  const http = httpError.safeParse(thrown);
  if (http.success) return lostAnswer(`Slack answered ${method} with HTTP ${http.data.statusCode}`, effect);
  const request = requestError.safeParse(thrown);
  return fromNetwork(request.success ? request.data.original : thrown, method, effect);
}

/** The Slack error code behind a refusal, for callers that can do something about one. */
export function slackCode(error: unknown): string | undefined {
  if (!(error instanceof GatewayError)) return undefined;
  return error.cause instanceof SlackCode ? error.cause.slack : undefined;
}

class SlackCode extends Error {
  readonly slack: string;
  constructor(slack: string) {
    super(slack);
    this.slack = slack;
  }
}

function fromCode(slack: string, method: string, effect: Effect, needed: string | undefined): GatewayError {
  // The client takes an answer that is not JSON, such as a proxy's page, for an error code.
  if (!/^[a-z0-9_]+$/.test(slack)) return lostAnswer(`Slack's answer to ${method} is not readable`, effect);
  if (slack === 'ratelimited' || slack === 'rate_limited') return slowDown(method, unsaidDelayMs);
  const cause = new SlackCode(slack);
  if (slack === 'missing_scope') {
    const scope = needed ?? 'a scope';
    return new GatewayError('platform_refused', `Slack refused ${method}: the app lacks the scope ${scope}`, {
      mend: `Add ${scope} under OAuth & Permissions → Bot Token Scopes, then reinstall the app.`,
      cause,
    });
  }
  if (unsure.has(slack)) return lostAnswer(`Slack failed in ${method}: ${slack}`, effect, cause);
  const meaning = meanings[slack] ?? { code: 'platform_refused' as const };
  return new GatewayError(meaning.code, `Slack refused ${method}: ${slack}`, {
    retryable: meaning.retryable ?? false,
    ...(meaning.mend === undefined ? {} : { mend: meaning.mend }),
    cause,
  });
}

function slowDown(method: string, retryAfterMs: number): GatewayError {
  const message = `Slack asks to slow down (${method})`;
  return new GatewayError('platform_rate_limited', message, { retryable: true, retryAfterMs });
}

function fromNetwork(thrown: unknown, method: string, effect: Effect): GatewayError {
  const reason = deepestCode(thrown);
  if (neverLeft.has(reason)) {
    return new GatewayError('platform_unreachable', `Slack cannot be reached for ${method} (${reason})`, {
      retryable: true,
    });
  }
  return lostAnswer(`The connection to Slack broke during ${method} (${reason})`, effect);
}

function lostAnswer(message: string, effect: Effect, cause?: unknown): GatewayError {
  const options = { retryable: effect === 'repeatable', ...(cause === undefined ? {} : { cause }) };
  return new GatewayError(effect === 'send' ? 'send_unknown' : 'platform_unreachable', message, options);
}

const coded = z.object({ code: z.string() });
const caused = z.object({ cause: z.unknown() });

/** The code nearest to the socket: `fetch` wraps it in a TypeError. */
function deepestCode(thrown: unknown): string {
  const inner = caused.safeParse(thrown);
  if (inner.success && inner.data.cause !== undefined && inner.data.cause !== null)
    return deepestCode(inner.data.cause);
  const own = coded.safeParse(thrown);
  if (own.success) return own.data.code;
  return thrown instanceof Error ? thrown.name : 'unknown';
}
