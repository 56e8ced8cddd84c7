/** `safe` runs at once, `dangerous` asks first, `forbidden` never runs whatever anyone approved. */
export type Verdict = 'safe' | 'dangerous' | 'forbidden';

/** The order of this list settles the category of a command that matches several rules: the first one names it. */
export const CATEGORIES = [
  'wipe-root',
  'wipe-device',
  'fork-bomb',
  'kill-all',
  'power',
  'kill-gateway',
  'recursive-delete',
  'overwrite-data',
  'system-config',
  'credential-file',
  'remote-code',
  'interpreter-code',
  'sql-destructive',
  'permissions',
  'privilege',
  'service',
  'process-kill',
  'git-destructive',
  'package-remove',
  'cloud-destructive',
  'history-log',
  'exfiltration',
  'obfuscated',
  'dynamic-command',
  'unparsable',
  'publish',
  'user-rule',
] as const;

export type Category = (typeof CATEGORIES)[number];

/**
 * What the judge knows of the place where the command would run. Everything is optional: what is not given is
 * judged as the command line is written, and the file system is never touched.
 */
export interface CommandContext {
  /** Absolute working directory of the command. Without it a relative path counts as inside. */
  readonly cwd?: string;
  /** Absolute home directory of the user that runs the command. */
  readonly home?: string;
  /** Directories besides `cwd` that count as the session's own. */
  readonly roots?: readonly string[];
  /** The gateway's home: its config, secrets, database. */
  readonly gatewayHome?: string;
  readonly gatewayPid?: number;
  /** Names of services and processes that are the gateway, or an agent that shares the machine with it. */
  readonly gatewayNames?: readonly string[];
  /** The terminal backend, by its name in the config: `local`, `docker`, `ssh` … Carried for the caller. */
  readonly backend?: string;
  readonly platform?: 'posix' | 'windows';
}

/** A half-open range of UTF-16 offsets into the command as it was given. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** What one finding was about, as narrow as it can be told: `{action: 'delete', targets: ['/srv/app/build']}`. */
export interface Subject {
  /** What is done, in a few stable words: `delete`, `push --force`, `stop`. */
  readonly action: string;
  /** To what: absolute paths where the working directory is known, names of units, a remote, a pattern. */
  readonly targets: readonly string[];
  /** `path` targets cover what lies below them; `name` targets cover themselves alone. */
  readonly kind: 'path' | 'name';
}

/** One reason why a command is not safe. */
export interface Finding {
  readonly verdict: 'dangerous' | 'forbidden';
  readonly category: Category;
  /** One sentence that a person understands: `deletes files recursively`. */
  readonly description: string;
  /** A deletion of what is made to be deleted (build outputs, temporary files). */
  readonly routine: boolean;
  readonly span: Span;
  /** The simple command that was found, words joined by spaces. */
  readonly command: string;
  /** Null where no narrower scope than the exact command text makes sense. */
  readonly subject: Subject | null;
}

/** One thing that a decision allows: an action on targets within a category, or one exact command text. */
export type Grant =
  | {
      readonly kind: 'category';
      readonly category: Category;
      readonly action: string;
      readonly target: string;
      readonly targetKind: 'path' | 'name';
    }
  | { readonly kind: 'exact'; readonly text: string };

/** What a `session` or `always` decision remembers. Plain data: it survives `JSON.stringify`. */
export interface DecisionScope {
  readonly grants: readonly Grant[];
}

export interface Judgement {
  /** The command as it was given. */
  readonly text: string;
  readonly verdict: Verdict;
  /** Of the worst finding, null when the verdict is safe. */
  readonly category: Category | null;
  readonly description: string | null;
  /** True when every finding is a routine deletion. */
  readonly routine: boolean;
  /** The simple commands found, wherever they hid, words joined by spaces. */
  readonly commands: readonly string[];
  /** Where in the text the findings are, in order and without overlap. */
  readonly spans: readonly Span[];
  readonly findings: readonly Finding[];
  /** What `session` or `always` would remember; null when nothing may be remembered. */
  readonly scope: DecisionScope | null;
}
