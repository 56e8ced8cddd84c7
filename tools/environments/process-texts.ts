import { stripVTControlCharacters } from 'node:util';
import type { ProcessRow } from './process-table.ts';

/** Characters of output kept for each process. */
export const keptChars = 200_000;
const noticeChars = 2_000;

export function plainTail(output: string): string {
  return stripVTControlCharacters(output.slice(-keptChars));
}

export function completionText(row: ProcessRow, output: string): string {
  const code = row.exitCode === null ? 'an unknown exit code' : `exit code ${row.exitCode}`;
  const tail = plainTail(output).slice(-noticeChars);
  return `Background process ${row.id} ended with ${code}.\nCommand: ${row.command}\nOutput:\n${tail}`;
}

export function matchText(row: ProcessRow, event: { lines: readonly string[]; suppressed: number }): string {
  const more = event.suppressed > 0 ? `\n(${event.suppressed} more matches since the last notice)` : '';
  const shown = event.lines.join('\n').slice(-noticeChars);
  return `Background process ${row.id} printed what you watch for.\nCommand: ${row.command}\nLines:\n${shown}${more}`;
}
