/** Stands in a resolved text for a piece that cannot be known before the command runs. Private use: never input. */
export const UNKNOWN = '\uE000';

/** Where a text came from, as bits that travel with it through variables, pipes and files of the same line. */
export const Taint = {
  none: 0,
  /** Fetched from another machine. */
  network: 1,
  /** The outcome of a decoder. */
  decoded: 2,
  /** The content of a key, password or credential file. */
  secret: 4,
  /** The whole environment. */
  environment: 8,
  /** The output of a command that was not worked out. */
  command: 16,
  /** The content of a local file. */
  file: 32,
  /** One of a list of paths that nobody has seen: `find -exec {}`, `xargs`, `while read`. */
  listed: 64,
  /** Output of a program made to be evaluated, such as `ssh-agent -s` or `brew shellenv`. */
  shellSetup: 128,
  /** Content of a system file such as /etc/passwd, or of a person's own files outside the project. */
  system: 256,
  /** What a shell prints that takes its commands from somewhere else. */
  shell: 512,
} as const;

/** What a program reads or writes, as far as it is known: standard input, a pipe, a here-document, a file. */
export interface Flow {
  /** The whole content, with UNKNOWN for pieces, or null when nothing of it is known. */
  readonly text: string | null;
  readonly taint: number;
  /** The starting points of an unfiltered listing (`find / | …`): what it lists lies below them. */
  readonly paths: readonly string[];
}

export interface Value {
  readonly text: string;
  readonly taint: number;
  /** Names of the variables behind the unknown pieces. */
  readonly vars: readonly string[];
  /** Of a process substitution: what a program that opens it reads. */
  readonly stream?: Flow;
}

/** A value with its place in the source that is being walked. */
export interface Word extends Value {
  readonly start: number;
  readonly end: number;
  /** As it is spelled in the source. */
  readonly raw: string;
}

const NONE: readonly string[] = [];

export const NO_FLOW: Flow = { text: null, taint: Taint.none, paths: NONE };

export function known(text: string, taint: number = Taint.none): Value {
  return { text, taint, vars: NONE };
}

export function unknown(name?: string, taint: number = Taint.none): Value {
  return { text: UNKNOWN, taint, vars: name === undefined ? NONE : [name] };
}

export function isKnown(value: Value): boolean {
  return !value.text.includes(UNKNOWN);
}

/** The text for people: unknown pieces become an ellipsis or the variable's name. */
export function shown(value: Value): string {
  if (isKnown(value)) return value.text;
  let index = 0;
  return value.text.replaceAll(UNKNOWN, () => {
    const name = value.vars[index] ?? value.vars.at(-1);
    index += 1;
    return name === undefined ? '…' : `$${name}`;
  });
}

/** One output after another. */
export function join(left: Flow, right: Flow): Flow {
  if (left === NO_FLOW) return right;
  if (right === NO_FLOW) return left;
  return {
    text: left.text === null || right.text === null ? null : left.text + right.text,
    taint: left.taint | right.taint,
    paths: left.paths.length === 0 ? right.paths : [...left.paths, ...right.paths],
  };
}
