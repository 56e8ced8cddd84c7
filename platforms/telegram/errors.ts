import { GrammyError, HttpError } from 'grammy';
import { errorMessage, GatewayError } from '../../src/errors.ts';

/** Failures of a connection that was never made: the request surely did not arrive. */
const neverSent = /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT/;
const chatGone =
  /bot was (blocked|kicked)|user is deactivated|chat not found|group chat was (deleted|upgraded)|not a member|CHAT_WRITE_FORBIDDEN|TOPIC_CLOSED|have no rights/i;

/** Maps what grammY throws to the codes that the gateway acts on. No text of it holds the token. */
export function mapError(error: unknown, token: string): GatewayError {
  if (error instanceof GatewayError) return error;
  if (error instanceof GrammyError) return mapAnswer(error);
  const cause = error instanceof HttpError ? error.error : error;
  const text = scrub(`${errorMessage(cause)} ${causeOf(cause)}`, token);
  if (neverSent.test(text)) {
    return new GatewayError('platform_unreachable', `Telegram cannot be reached (${text.trim()}).`, {
      retryable: true,
      mend: 'Check the network, or TELEGRAM_API_ROOT.',
    });
  }
  return new GatewayError('send_unknown', `No answer from Telegram (${text.trim()}).`, { retryable: true });
}

function mapAnswer({ error_code: code, description, parameters }: GrammyError): GatewayError {
  if (code === 401 || (code === 404 && description === 'Not Found')) {
    return new GatewayError('token_invalid', 'Telegram does not know this bot token.', {
      mend: 'Copy it again from @BotFather into TELEGRAM_BOT_TOKEN.',
    });
  }
  if (code === 409) {
    return new GatewayError('token_in_use', 'Another program polls this Telegram bot.', {
      retryable: true,
      mend: 'Stop the other program, or make a second bot with @BotFather.',
    });
  }
  if (code === 429) {
    const seconds = parameters.retry_after ?? 5;
    return new GatewayError('platform_rate_limited', `Telegram asks to wait ${seconds} s.`, {
      retryable: true,
      retryAfterMs: seconds * 1000,
    });
  }
  if (code >= 500)
    return new GatewayError('send_unknown', `Telegram had a fault (${code} ${description}).`, {
      retryable: true,
    });
  if (code === 403 || chatGone.test(description))
    return new GatewayError('chat_gone', `Telegram: ${description}.`);
  return new GatewayError('platform_refused', `Telegram refused: ${description}.`);
}

function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return '';
  const { cause } = error;
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  const own = 'code' in error ? String(error.code) : '';
  return [own, code, cause instanceof Error ? cause.message : ''].filter((part) => part !== '').join(' ');
}

/** The token stands in every address of the Bot API. */
export function scrub(text: string, token: string): string {
  return text.replaceAll(token, '<token>');
}

/** A 400 of these kinds is cured by sending the same text in another form. */
export function isMarkupRefusal(error: unknown): boolean {
  return (
    error instanceof GrammyError &&
    error.error_code === 400 &&
    /parse|entit|rich|tag|markup|too long/i.test(error.description)
  );
}

export function isUnsupported(error: unknown): boolean {
  return (
    error instanceof GrammyError && (error.error_code === 404 || /method not found/i.test(error.description))
  );
}

export function describes(error: unknown, pattern: RegExp): boolean {
  return error instanceof GrammyError && error.error_code === 400 && pattern.test(error.description);
}
