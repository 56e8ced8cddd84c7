/** `/name arguments` as a person types it: case, `@bot` suffix and phones' long dashes are forgiven. */
export interface ParsedCommand {
  name: string;
  args: string;
}

/** Null for anything that is not a command, such as a path (`/usr/bin`). */
export function parseCommand(text: string): ParsedCommand | null {
  const match = /^\s*\/(?<name>[a-z][a-z0-9_-]{0,31})(?:@\w+)?(?:\s+(?<args>[\s\S]*))?$/i.exec(text);
  const name = match?.groups?.['name'];
  if (name === undefined) return null;
  const args = (match?.groups?.['args'] ?? '').replaceAll('—', '--').replaceAll('–', '--').trim();
  return { name: name.toLowerCase().replaceAll('_', '-'), args };
}
