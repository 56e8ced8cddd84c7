import type { CommandContext, Span } from '../verdict.ts';
import { resolvePath } from './state.ts';
import { type Flow, shown, Taint, UNKNOWN, type Value, type Word } from './value.ts';

export interface Redirect {
  /** `>`, `>>`, `<`, `<>`, `&>` … */
  readonly operator: string;
  readonly descriptor: number | null;
  readonly target: Value;
  /** The target made absolute where the working directory is known. */
  readonly path: string;
}

export interface Assigned {
  readonly name: string;
  readonly value: Value;
}

/** What inline code of an interpreter does, as far as a reader can tell without running it. */
export type CodeFact =
  | 'deletes-tree'
  | 'kills'
  | 'spawns-unknown'
  | 'spawns-shell'
  | 'runs-decoded'
  | 'runs-fetched'
  | 'reverse-shell'
  | 'forks-endlessly'
  | 'writes-system';

/** One simple command, wherever in the line it hid, with what the shell would know when it starts. */
export interface SimpleCommand {
  /** The program's name without folders; empty for assignments and redirections alone. */
  readonly program: string;
  readonly words: readonly Word[];
  /** The words after the program. */
  readonly args: readonly Word[];
  readonly assignments: readonly Assigned[];
  readonly redirects: readonly Redirect[];
  readonly stdin: Flow;
  readonly cwd: string | null;
  /** Programs looked through to find it, outermost first: `['sudo', 'xargs']`. */
  readonly via: readonly string[];
  /** Code that it executes: a shell's script, standard input, `eval`'s arguments. */
  readonly runs: readonly Flow[];
  readonly code: ReadonlySet<CodeFact>;
  /** It stands alone as a condition: `if $flag`. */
  readonly condition: boolean;
  /** It was found in inline code of an interpreter or behind an option that runs a command. */
  readonly inCode: boolean;
  /** It runs on another machine or in a container: paths are not the session's. */
  readonly remote: boolean;
  readonly inFunction: boolean;
  readonly span: Span;
  readonly context: CommandContext;
  /** Directories that the same line fetched. */
  readonly fetchedTrees: readonly string[];
}

export function commandText(command: SimpleCommand): string {
  return [
    ...command.assignments.map(({ name, value }) => `${name}=${shown(value)}`),
    ...command.words.map(shown),
    ...command.redirects.map((redirect) => `${redirect.operator} ${shown(redirect.target)}`),
  ].join(' ');
}

/** The program's name as rules know it: no folders, no `.exe`. */
export function programName(word: string): string {
  const base = word.slice(word.lastIndexOf('/') + 1);
  return base.endsWith('.exe') ? base.slice(0, -4) : base;
}

/**
 * Whether an option is given: `short` letters stand in any cluster (`-vrf`), `long` names also shortened as GNU
 * allows (`--recurs`), at least three letters. Options after `--` are operands.
 */
export function has(command: SimpleCommand, short: string, ...long: readonly string[]): boolean {
  for (const { text } of command.args) {
    if (text === '--') return false;
    if (text.startsWith('--')) {
      if (long.some((name) => isLong(text, name))) return true;
    } else if (short !== '' && text.length > 1 && text.startsWith('-')) {
      for (const letter of short) if (text.includes(letter, 1)) return true;
    }
  }
  return false;
}

/** `--recursive`, `--recursive=x`, `--recurs`. */
function isLong(text: string, name: string): boolean {
  const equals = text.indexOf('=');
  const given = text.slice(2, equals < 0 ? undefined : equals);
  return given === name || (given.length >= 3 && name.startsWith(given));
}

/** The value of an option: `-o x`, `-ox`, `--output x`, `--output=x`; every occurrence. */
export function optionValues(command: SimpleCommand, ...names: readonly string[]): Word[] {
  const values: Word[] = [];
  for (const [index, word] of command.args.entries()) {
    const { text } = word;
    if (!text.startsWith('-')) continue;
    for (const name of names) {
      const next = command.args[index + 1];
      if (text === name) {
        if (next !== undefined) values.push(next);
      } else if (name.startsWith('--') && text.startsWith(`${name}=`)) {
        values.push({ ...word, text: text.slice(name.length + 1) });
      } else if (name.length === 2 && !text.startsWith('--') && text.startsWith(name)) {
        values.push({ ...word, text: text.slice(2).replace(/^=/, '') });
      }
    }
  }
  return values;
}

/** The arguments that are no options. `valued` names the options that take the next word: `-C`, `--git-dir`. */
export function operands(command: SimpleCommand, valued: readonly string[] = []): Word[] {
  const found: Word[] = [];
  for (let index = 0; index < command.args.length; index += 1) {
    const word = command.args[index];
    if (word === undefined) break;
    if (word.text === '--') return [...found, ...command.args.slice(index + 1)];
    if (word.text.startsWith('-') && word.text.length > 1) {
      if (valued.includes(word.text)) index += 1;
    } else found.push(word);
  }
  return found;
}

/** An operand as an absolute path, where the working directory is known. */
export function pathOf(command: SimpleCommand, word: Value): string {
  return resolvePath(word.text, command.cwd);
}

export function isVia(command: SimpleCommand, ...programs: readonly string[]): boolean {
  return programs.some((program) => command.via.includes(program));
}

/** Whether a word is one of a list that nobody has seen. */
export function isListed(word: Value): boolean {
  return (word.taint & Taint.listed) !== 0;
}

export function isDynamic(word: Value): boolean {
  return word.text.includes(UNKNOWN);
}
