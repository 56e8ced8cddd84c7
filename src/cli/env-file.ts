import { readFile, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode, writeAtomically } from '../config/files.ts';
import { GatewayError } from '../errors.ts';

/**
 * Sets variables in `<home>/.env` and keeps the rest of the file, comments included. The file is made 0600. Rejects
 * with `usage` for a value that a line cannot hold.
 */
export async function setEnvValues(home: string, values: Readonly<Record<string, string>>): Promise<void> {
  const path = join(home, '.env');
  const target = await realpath(path).catch((error: unknown) => {
    if (hasCode(error, 'ENOENT')) return path;
    throw error;
  });
  const old = await readFile(target, 'utf8').catch((error: unknown) => {
    if (hasCode(error, 'ENOENT')) return '';
    throw error;
  });
  let text = old;
  for (const [name, value] of Object.entries(values)) text = withValue(text, name, value);
  await writeAtomically(target, text);
}

/** The text with the variable set where it stands, or at the end. Of several lines of one variable the last counts. */
export function withValue(text: string, name: string, value: string): string {
  const line = `${name}=${quoted(name, value)}`;
  const lines = text.split('\n');
  const at = lines.findLastIndex((each) => new RegExp(`^\\s*(?:export\\s+)?${name}\\s*=`).test(each));
  if (at !== -1) return lines.with(at, line).join('\n');
  return `${text}${text === '' || text.endsWith('\n') ? '' : '\n'}${line}\n`;
}

function quoted(name: string, value: string): string {
  if (/^[\w@%+=:,./~-]*$/.test(value)) return value;
  const quote = ["'", '"', '`'].find((sign) => !value.includes(sign));
  // Within double quotes a backslash and an n would become a new line.
  if (quote === undefined || /[\n\r]/.test(value) || (quote === '"' && value.includes('\\')))
    throw new GatewayError('usage', `${name} holds signs that cannot be kept in .env.`, {
      mend: 'Copy the value again, without line breaks.',
    });
  return `${quote}${value}${quote}`;
}
