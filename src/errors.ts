/** Every way in which the gateway fails on purpose. `docs/errors.md` lists the same codes with their mends. */
export type ErrorCode =
  | 'config_invalid'
  | 'store_corrupt'
  | 'store_full'
  | 'store_unavailable'
  | 'port_in_use'
  | 'token_invalid'
  | 'token_in_use'
  | 'intent_missing'
  | 'platform_unreachable'
  | 'platform_refused'
  | 'platform_rate_limited'
  | 'chat_gone'
  | 'send_unknown'
  | 'model_unauthorized'
  | 'model_rejected'
  | 'model_rate_limited'
  | 'model_unavailable'
  | 'model_context_exceeded'
  | 'environment_unavailable'
  | 'environment_refused'
  | 'usage'
  | 'cancelled';

export interface GatewayErrorOptions {
  /** True when the same call may succeed later without anyone changing anything. */
  retryable?: boolean;
  /** How long to wait before the next try, in milliseconds. */
  retryAfterMs?: number;
  /** What the reader can do about it, one sentence. */
  mend?: string;
  cause?: unknown;
}

/**
 * The one error class that crosses module borders. `message` says what happened and why; `mend` says the next
 * step. Neither may hold a secret.
 */
export class GatewayError extends Error {
  readonly code: ErrorCode;
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;
  readonly mend: string | undefined;

  constructor(code: ErrorCode, message: string, options: GatewayErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'GatewayError';
    this.code = code;
    this.retryable = options.retryable ?? false;
    this.retryAfterMs = options.retryAfterMs;
    this.mend = options.mend;
  }
}

/** The text of anything thrown, for logs and for messages that name a cause. */
export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
