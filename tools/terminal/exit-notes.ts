/** Exit codes that say something other than "failed", by program: a model must not go looking for an error. */
const notes: Readonly<Record<string, Readonly<Record<number, string>>>> = {
  grep: { 1: 'no match found, not an error' },
  rg: { 1: 'no match found, not an error' },
  diff: { 1: 'the inputs differ, not an error' },
  cmp: { 1: 'the inputs differ, not an error' },
  test: { 1: 'the condition is false, not an error' },
  '[': { 1: 'the condition is false, not an error' },
  pgrep: { 1: 'no process matched, not an error' },
  which: { 1: 'no such program was found' },
  find: { 1: 'some folders could not be read; the results may be incomplete' },
  curl: {
    6: 'the host name could not be resolved',
    7: 'the server refused the connection or could not be reached',
    22: 'the server answered with an HTTP error',
    28: 'the request timed out',
  },
  git: { 1: 'for git diff, git grep and the like: differences or no match, not an error' },
};
const aliases: Readonly<Record<string, string>> = { egrep: 'grep', fgrep: 'grep', zgrep: 'grep' };

const general: Readonly<Record<number, string>> = {
  126: 'the program was found but could not be executed',
  127: 'the program was not found',
};

/** What the exit code means for the last simple command of the text; null when there is nothing to add. */
export function exitCodeMeaning(command: string, exitCode: number): string | null {
  const last = command.split(/\|\||&&|[|;\n]/).findLast((part) => part.trim() !== '') ?? '';
  const words = last.trim().split(/\s+/);
  const program = words.find((word) => !/^\w+=/.test(word) && word !== 'sudo' && word !== 'command') ?? '';
  const name = program.split('/').at(-1) ?? '';
  return notes[aliases[name] ?? name]?.[exitCode] ?? general[exitCode] ?? null;
}
