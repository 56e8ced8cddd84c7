/** Runs a read-only program, by its words, where the command itself would run. Rejects when it cannot be started. */
export type PreviewExec = (
  argv: readonly string[],
  options: { readonly cwd?: string; readonly timeoutMs: number; readonly signal: AbortSignal },
) => Promise<{ readonly exitCode: number; readonly stdout: string; readonly stderr: string }>;

/** What a command would reach, for the card. */
export interface Preview {
  /** One line: `12 files, 48 kB: a.txt, b.txt, …`. */
  readonly text: string;
  readonly files?: number;
  readonly bytes?: number;
  /** The first few names. */
  readonly names?: readonly string[];
}

/** One program run for a preview; null when it failed or is missing. */
export type Look = (argv: readonly string[]) => Promise<string | null>;

export const SHOWN_NAMES = 5;

export function lines(output: string): string[] {
  return output.split('\n').filter((line) => line.trim() !== '');
}

export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString('en-US')} ${count === 1 ? one : many}`;
}

/** `3 files: a, b, c`; an ellipsis stands for what is not named. */
export function withNames(head: string, names: readonly string[], count = names.length): string {
  if (names.length === 0) return head;
  const shown = names
    .slice(0, SHOWN_NAMES)
    .map((name) => (name.length > 60 ? `${name.slice(0, 59)}…` : name));
  return `${head}: ${shown.join(', ')}${count > shown.length ? ', …' : ''}`;
}

export function readableBytes(bytes: number): string {
  const units = ['bytes', 'kB', 'MB', 'GB', 'TB'];
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit === 0 || value >= 10 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}
