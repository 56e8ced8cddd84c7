import { type Logger, pino, stdTimeFunctions } from 'pino';
import { redactSecrets } from './redact.ts';

export type Log = Logger;

/**
 * The process logger: JSON lines on stderr. Every line passes the secret filter as text, so a token hidden in an
 * error message or in a nested field cannot slip through a list of field names.
 */
export function createLog(
  level = 'info',
  write: (line: string) => void = (line) => process.stderr.write(line),
): Log {
  return pino(
    { level, base: null, timestamp: stdTimeFunctions.isoTime },
    { write: (line: string) => write(redactSecrets(line)) },
  );
}

/** A logger that writes nothing, for library use and tests. */
export const silentLog: Log = pino({ level: 'silent' });
