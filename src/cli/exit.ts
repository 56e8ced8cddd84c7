import { GatewayError } from '../errors.ts';
import { redactSecrets } from '../redact.ts';

export const wrongUsageExitCode = 2;

/** What the shell is told: 0 done, 1 failed, 2 wrong usage, 75 temporary, 78 configuration. */
export function exitCodeOf(error: unknown): number {
  if (!(error instanceof GatewayError)) return 1;
  if (error.code === 'usage') return wrongUsageExitCode;
  const configuration = ['config_invalid', 'token_invalid', 'intent_missing', 'store_corrupt'];
  if (configuration.includes(error.code)) return 78;
  return error.retryable || error.code === 'port_in_use' || error.code === 'token_in_use' ? 75 : 1;
}

/** What happened and the next step, for a person; never a stack trace, never a secret. */
export function explain(error: unknown): string {
  if (error instanceof GatewayError)
    return redactSecrets([error.message, error.mend].filter(Boolean).join('\n'));
  return redactSecrets(error instanceof Error ? `${error.name}: ${error.message}` : String(error));
}
