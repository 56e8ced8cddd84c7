import { GatewayError } from '../errors.ts';
import { redactSecrets } from '../redact.ts';

/** Who is asked, as a message may name it. */
export interface Provider {
  /** Host of the provider; never the key, nor an address with a password in it. */
  host: string;
  model: string;
  /** Where the person sets the key: a variable or a key of the configuration. */
  keyName: string;
}

/** A failure while an answer streamed: it is asked for again, and in one piece when that keeps happening. */
export class BrokenStream extends GatewayError {
  constructor(provider: Provider, what: string, cause?: unknown) {
    super('model_unavailable', `The model's answer broke off (${provider.host}: ${what}).`, {
      retryable: true,
      mend: 'Try again. If it keeps happening, check the network and the provider’s status page.',
      cause,
    });
  }
}

export function cancelled(): GatewayError {
  return new GatewayError('cancelled', 'The model call was cancelled.');
}

const contextWords =
  /context[ _](length|window|size)|maximum context|too many tokens|prompt is too long|context_length_exceeded/i;
const quotaWords = /insufficient_quota|exceeded your current quota|billing/i;

/** What an HTTP status with its body means. `retryAfterMs` comes from the headers. */
export function failureOf(
  provider: Provider,
  answer: { status: number; detail: string; retryAfterMs: number | undefined },
): GatewayError {
  const { status, retryAfterMs } = answer;
  const detail = answer.detail === '' ? '' : `: ${redactSecrets(answer.detail).slice(0, 300)}`;
  const says = `${provider.host} says ${status}${detail}`;
  if (status === 401 || status === 403) {
    return new GatewayError(
      'model_unauthorized',
      `The provider refused the key (${status}, ${provider.host}).`,
      {
        mend: `Check ${provider.keyName}: whether it is complete, still valid, and allowed to use ${provider.model}.`,
      },
    );
  }
  if (status === 413 || contextWords.test(detail)) {
    return new GatewayError(
      'model_context_exceeded',
      `The conversation is too long for ${provider.model}. ${says}.`,
      {
        mend: 'Start anew with /new, or use a model with a larger context window.',
      },
    );
  }
  if (status === 402 || quotaWords.test(detail)) {
    return new GatewayError('model_rate_limited', `The provider's account has no credit left. ${says}.`, {
      mend: 'Top up the account, or set another provider in fallback_providers.',
    });
  }
  if (status === 429) {
    return new GatewayError('model_rate_limited', `The provider is limiting requests. ${says}.`, {
      retryable: true,
      ...(retryAfterMs !== undefined && { retryAfterMs }),
      mend: 'Wait a little and try again, or set fallback_providers.',
    });
  }
  if (status >= 500 || status === 408 || status === 409 || status === 425) {
    return new GatewayError('model_unavailable', `The provider has trouble. ${says}.`, {
      retryable: true,
      ...(retryAfterMs !== undefined && { retryAfterMs }),
      mend: 'Try again in a few minutes, or set fallback_providers.',
    });
  }
  const unknownModel = status === 404 || /model.{0,40}(not found|does not exist)/i.test(detail);
  return new GatewayError('model_rejected', `The provider rejected the request. ${says}.`, {
    mend: unknownModel
      ? `Check the name of the model (${provider.model}) and OPENAI_BASE_URL; most addresses end in /v1.`
      : 'If it keeps happening, start anew with /new; the log has the details.',
  });
}

/** A connection that could not be made or was lost before the answer began. */
export function unreachable(provider: Provider, cause: unknown): GatewayError {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'no connection';
  return new GatewayError(
    'model_unavailable',
    `The provider cannot be reached (${provider.host}: ${code}).`,
    {
      retryable: true,
      mend: 'Check the network and OPENAI_BASE_URL.',
      cause,
    },
  );
}

/** An answer with status 200 that is no chat completion. */
export function notACompletion(provider: Provider, cause?: unknown): GatewayError {
  return new GatewayError('model_rejected', `What ${provider.host} answered is no chat completion.`, {
    mend: 'Check OPENAI_BASE_URL; most addresses end in /v1.',
    cause,
  });
}
