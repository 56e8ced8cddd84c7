/**
 * The line that was begun in each background process: a command may be typed in pieces, and each piece alone looks
 * harmless. Gone with this process, as are the pipes by which one could go on typing.
 */
const begun = new Map<string, string>();

/** What a shell would read if `text` were typed now: the begun line and the text, as commands to be judged. */
export function typedWith(processId: string, text: string): string {
  // Keys such as Ctrl-U and Backspace take back what stands before them, so what follows may begin a command.
  const lines = text.replaceAll(/(?!\t)\p{Cc}/gu, '\n');
  return (begun.get(processId) ?? '') + lines;
}

/** Remembers what was typed, as far as no line has ended after it. */
export function noteTyped(processId: string, text: string, outcome: 'ok' | 'no_stdin' | 'exited'): void {
  const rest = outcome === 'ok' ? typedWith(processId, text).replace(endedLines, '') : '';
  if (rest === '') begun.delete(processId);
  else begun.set(processId, rest);
}

/** A line that ends with a backslash goes on in the next one. */
const endedLines = /^[\s\S]*(?<!\\)\n/;
