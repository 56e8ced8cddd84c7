import type { DiscordAPIError, HTTPError, RateLimitError } from 'discord.js';
import { errorMessage, GatewayError } from '../../src/errors.ts';

/** The error classes of discord.js, which is imported lazily by `client.ts` alone. */
export interface DiscordErrorClasses {
  DiscordAPIError: typeof DiscordAPIError;
  HTTPError: typeof HTTPError;
  RateLimitError: typeof RateLimitError;
}

/** What a failed call may have done already: a `repeatable` one (a read, an edit) is safe to make again. */
export type Effect = 'send' | 'repeatable';

/** discord.com/developers/docs/topics/opcodes-and-status-codes#json */
export const discordCode = {
  unknownChannel: 10003, unknownGuild: 10004, unknownMessage: 10008, unknownEmoji: 10014, unknownInteraction: 10062,
  alreadyAcknowledged: 40060, missingAccess: 50001, cannotDm: 50007, nonTextChannel: 50008, missingPermissions: 50013,
  invalidWebhookToken: 50027, wrongChannelType: 50024, threadArchived: 50083, threadExists: 160004,
} as const; // biome-ignore format: a table

const goneCodes: readonly number[] = [
  discordCode.unknownChannel,
  discordCode.unknownGuild,
  discordCode.missingAccess,
  discordCode.cannotDm,
  discordCode.threadArchived,
];

/** Failures of the connection that come before a byte of the request has left. */
const neverLeft: readonly string[] = [
  'ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT',
]; // biome-ignore format: a list

/** Carries Discord's own code beside the port's, for the adapter's decisions. */
export class DiscordRefusal extends GatewayError {
  readonly discordCode: number;

  constructor(code: 'chat_gone' | 'platform_refused', message: string, discord: number, mend?: string) {
    super(code, message, mend === undefined ? {} : { mend });
    this.discordCode = discord;
  }
}

export const refusedWith = (error: unknown, ...codes: readonly number[]): boolean =>
  error instanceof DiscordRefusal && codes.includes(error.discordCode);

const intentOrTokenMend =
  'Copy the token anew from https://discord.com/developers/applications → your app → Bot → Reset Token.';

/**
 * What went wrong in terms of the port. `what` names the call, such as `send a message`. The cause is left out on
 * purpose: discord.js hangs the whole request on its errors, interaction tokens included.
 */
export function toGatewayError(
  error: unknown,
  what: string,
  effect: Effect,
  classes: DiscordErrorClasses,
): GatewayError {
  if (error instanceof GatewayError) return error;
  if (error instanceof classes.RateLimitError) {
    const retryAfterMs = Math.max(1, Math.ceil(error.retryAfter || error.timeToReset));
    return new GatewayError('platform_rate_limited', `Discord asks to wait before the bot may ${what}.`, {
      retryable: true,
      retryAfterMs,
    });
  }
  if (error instanceof classes.DiscordAPIError) return fromApi(error, what);
  if (error instanceof classes.HTTPError) {
    return unsettled(`Discord answered HTTP ${error.status} when asked to ${what}.`, effect);
  }
  if (error instanceof Error && error.name === 'AbortError') {
    return unsettled(`The call to ${what} was given up before Discord answered.`, effect);
  }
  const code = errorCodeOf(error);
  if (code !== undefined && neverLeft.includes(code)) {
    return new GatewayError('platform_unreachable', `Discord could not be reached to ${what}: ${code}.`, {
      retryable: true,
      mend: 'Check the network and DISCORD_API_ROOT.',
    });
  }
  return unsettled(`The connection broke when asked to ${what}: ${code ?? errorMessage(error)}.`, effect);
}

function fromApi(error: DiscordAPIError, what: string): GatewayError {
  const { status, message } = error;
  const code = Number(error.code);
  // The token of an interaction lapses; that says nothing of the bot's.
  if (status === 401 && code !== discordCode.invalidWebhookToken) {
    return new GatewayError('token_invalid', 'Discord refuses the bot token.', { mend: intentOrTokenMend });
  }
  const told = `Discord refused to ${what}: ${message.split('\n')[0]} (code ${code}).`;
  if (goneCodes.includes(code)) return new DiscordRefusal('chat_gone', told, code);
  if (code === discordCode.missingPermissions) {
    const mend =
      'Give the bot’s role the missing permission in this channel, or invite it again with the link of `hermes-gateway setup discord`.';
    return new DiscordRefusal('platform_refused', told, code, mend);
  }
  return new DiscordRefusal('platform_refused', told, code);
}

function unsettled(message: string, effect: Effect): GatewayError {
  return effect === 'send'
    ? new GatewayError('send_unknown', `${message} Whether it arrived is unknown.`)
    : new GatewayError('platform_unreachable', message, { retryable: true });
}

function errorCodeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if ('code' in error && typeof error.code === 'string') return error.code;
  return error.cause === undefined ? undefined : errorCodeOf(error.cause);
}
