import { globMatches } from './shell/glob.ts';

/** The user's own rules, `approvals.deny`, `approvals.ask` and `approvals.allow` of the config. */
export interface UserPatternLists {
  readonly deny?: readonly string[];
  readonly ask?: readonly string[];
  readonly allow?: readonly string[];
}

/** One compiled pattern, with the text that the user wrote. */
export interface UserPattern {
  readonly source: string;
  matches(text: string): boolean;
}

export interface UserPatterns {
  readonly deny: readonly UserPattern[];
  readonly ask: readonly UserPattern[];
  readonly allow: readonly UserPattern[];
}

/** Longer texts are not matched by a user's regular expression, whose cost is not known; they count as matched by `deny` and `ask`. */
const MAX_MATCHED = 10_000;

/**
 * Compiles the lists. A pattern is a glob over a whole command (`git push *`), or a regular expression between
 * slashes (`/\bprod\b/i`). A pattern that does not compile is an error that names it.
 */
export function compileUserPatterns(lists: UserPatternLists): UserPatterns {
  return {
    deny: (lists.deny ?? []).map((source) => compile(source, true)),
    ask: (lists.ask ?? []).map((source) => compile(source, true)),
    allow: (lists.allow ?? []).map((source) => compile(source, false)),
  };
}

function compile(source: string, whenTooLong: boolean): UserPattern {
  const match = /^\/(.+)\/([imsu]*)$/s.exec(source);
  if (match?.[1] === undefined) return { source, matches: (text) => globMatches(source.trim(), text.trim()) };
  const pattern = new RegExp(match[1], match[2] ?? '');
  return { source, matches: (text) => (text.length > MAX_MATCHED ? whenTooLong : pattern.test(text)) };
}

export type UserOutcome = { kind: 'deny' | 'ask' | 'allow'; source: string };

/**
 * What the user's lists say of a line: `deny` beats `ask` beats `allow`. `deny` and `ask` count when any command
 * found, or the whole text, matches; `allow` only when every command found does.
 */
export function applyUserPatterns(
  patterns: UserPatterns,
  text: string,
  commands: readonly string[],
): UserOutcome | null {
  const all = [text, ...commands];
  for (const kind of ['deny', 'ask'] as const) {
    const hit = patterns[kind].find((pattern) => all.some((command) => pattern.matches(command)));
    if (hit !== undefined) return { kind, source: hit.source };
  }
  const covered = commands.map((command) => patterns.allow.find((pattern) => pattern.matches(command)));
  const [first] = covered;
  if (first !== undefined && covered.every((pattern) => pattern !== undefined))
    return { kind: 'allow', source: first.source };
  return null;
}
