import { createLog, type Log } from '../../../../src/log.ts';

/** A log that keeps its lines. */
export function recordingLog(): { log: Log; lines: string[] } {
  const lines: string[] = [];
  return { log: createLog('debug', (line) => lines.push(line)), lines };
}
