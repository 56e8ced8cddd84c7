import type { LogLevel, webApi } from '@slack/bolt';
import type { Log } from '../../src/log.ts';
import { redactSecrets } from '../../src/redact.ts';

/**
 * The client libraries' logger on top of ours. Their warnings are our debug lines: whatever matters of them reaches
 * us as an error or a state and is told in our words.
 */
export function createSdkLog(log: Log, level: LogLevel): webApi.Logger {
  const write = (...parts: unknown[]) =>
    log.debug({ sdk: 'slack' }, redactSecrets(parts.map(String).join(' ')));
  return {
    debug: () => undefined,
    info: () => undefined,
    warn: write,
    error: write,
    setLevel: () => undefined,
    getLevel: () => level,
    setName: () => undefined,
  };
}
