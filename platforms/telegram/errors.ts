import type { GrammyError } from 'grammy';
import { errorMessage, GatewayError, type GatewayErrorOptions } from '../../src/errors.ts';
import { TransportError } from './transport.ts';

/** What Telegram answered when it refused, in the Bot API's own words. */
export type ApiRefusal = Pick<GrammyError, 'error_code' | 'description' | 'parameters'>;

export class BotApiError extends Error implements ApiRefusal {
  readonly error_code: number;
  readonly description: string;
  readonly parameters: ApiRefusal['parameters'];

  constructor({ error_code, description, parameters }: ApiRefusal) {
    super(description);
    this.name = 'BotApiError';
    this.error_code = error_code;
    this.description = description;
    this.parameters = parameters;
  }
}

/** Also grammY's error, which uploads throw; known by its name, so that grammY needn't be loaded here. */
function isApiRefusal(error: unknown): error is Error & ApiRefusal {
  return error instanceof BotApiError || (error instanceof Error && error.name === 'GrammyError');
}

const gone =
  /blocked by the user|user is deactivated|chat not found|bot was kicked|bot is not a member|group chat was (?:deleted|deactivated)|can't initiate conversation|PEER_ID_INVALID|have no rights to send|need administrator rights|CHAT_WRITE_FORBIDDEN|TOPIC_CLOSED/i;

/** Any failure of a call, as the gateway knows it. Its message names the method, never the URL, which holds the token. */
export function toGatewayError(error: unknown, method: string): GatewayError {
  if (error instanceof GatewayError) return error;
  if (isApiRefusal(error)) return refusal(error, method);
  const transport = transportErrorOf(error);
  if (transport === null)
    return new GatewayError('platform_refused', `Telegram ${method} failed: ${scrub(errorMessage(error))}.`);
  const why = `Telegram ${method}: ${transport.message}.`;
  return transport.phase === 'unsent'
    ? new GatewayError('platform_unreachable', why, {
        retryable: true,
        mend: 'Check the network, the proxy and TELEGRAM_API_ROOT.',
      })
    : new GatewayError('send_unknown', why, { retryable: true });
}

/** Failures on the way: our own client's, or those of the upload, which grammY sends. */
function transportErrorOf(error: unknown): TransportError | null {
  if (error instanceof TransportError) return error;
  if (!(error instanceof Error) || error.name !== 'HttpError') return null;
  const inner = 'error' in error ? error.error : undefined;
  if (inner instanceof TransportError) return inner;
  const code = inner instanceof Error && 'code' in inner ? String(inner.code) : '';
  const unsent = /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH)$/.test(code);
  return new TransportError(unsent ? 'unsent' : 'unknown', code || 'connection failed');
}

/** A proxy's own JSON may lack every field of an answer. */
function refusal(answer: Partial<ApiRefusal>, method: string): GatewayError {
  const { error_code: status = 502, description = 'no reason given', parameters = {} } = answer;
  const why = `Telegram refused ${method}: ${scrub(description)}.`;
  const make = (code: GatewayError['code'], options: GatewayErrorOptions = {}) =>
    new GatewayError(code, why, options);
  if (status === 401 || (status === 404 && description === 'Not Found' && method === 'getMe')) {
    return make('token_invalid', {
      mend: 'Get the token of your bot from @BotFather and set TELEGRAM_BOT_TOKEN to it.',
    });
  }
  if (status === 409) {
    return make('token_in_use', {
      retryable: true,
      mend: 'Stop the other program that uses this bot token, or make a bot of its own with @BotFather.',
    });
  }
  if (status === 429) {
    return make('platform_rate_limited', {
      retryable: true,
      retryAfterMs: (parameters.retry_after ?? 1) * 1_000,
    });
  }
  if (status >= 500) return make('send_unknown', { retryable: true });
  if (status === 403 || (status === 400 && gone.test(description))) return make('chat_gone');
  return make('platform_refused');
}

/** A bot token wherever it may have got into a text. */
function scrub(text: string): string {
  return text.replace(/\d{3,}:[\w-]{10,}/g, '<token>').replace(/\/bot[^/\s]+/g, '/bot<token>');
}

/** Whether Telegram (or an older Bot API server) does not know the method at all. */
export function isUnknownMethod(error: unknown): boolean {
  return isApiRefusal(error) && (error.error_code === 404 || /method not found/i.test(error.description));
}

/** A refusal for what the message says or how it is marked up: another form of it may pass. */
export function isContentRefusal(error: unknown): boolean {
  return isApiRefusal(error) && error.error_code === 400 && !gone.test(error.description);
}

export function refusedWith(error: unknown, pattern: RegExp): boolean {
  return isApiRefusal(error) && error.error_code === 400 && pattern.test(error.description);
}

/** The new id of a group that became a supergroup. Bot API: ResponseParameters, migrate_to_chat_id. */
export function migratedTo(error: unknown): number | undefined {
  return isApiRefusal(error) ? error.parameters.migrate_to_chat_id : undefined;
}
