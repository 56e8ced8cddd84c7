import type { CommandContext } from '../verdict.ts';
import type { FunctionNode } from './parse.ts';
import { type Flow, known, UNKNOWN, unknown, type Value } from './value.ts';

/** How many values of one variable are followed before the judge says that it is too much. */
const MAX_OPTIONS = 256;
/** A longer value is not followed: `x=$x$x` doubles with every line. */
const MAX_LENGTH = 65_536;

/** How many simple commands are judged before the rest of the text is only asked about. */
const MAX_COMMANDS = 5000;

/** What one text may cost. */
export interface Budget {
  /** Commands found. */
  commands: number;
  /** Characters parsed again. */
  characters: number;
  /** Characters, and names of variables, that expansions bring into words: `"$x$x$x…"` is long out of proportion. */
  expanded: number;
  /** True once something was left unjudged; such a text is never safe. */
  exceeded: boolean;
}

export function budgetFor(text: string): Budget {
  return {
    commands: MAX_COMMANDS,
    characters: 4 * text.length + 65_536,
    expanded: 4 * text.length + 1_048_576,
    exceeded: false,
  };
}

/**
 * What the shell would know at a point of the line: variables, aliases, functions, working directory, and the
 * files that the same line wrote. A variable that may hold several things (loop, branch) keeps them all; `choice`
 * says which of them the present expansion takes, and `widest` how many there were.
 */
export interface ShellState {
  readonly context: CommandContext;
  readonly budget: Budget;
  vars: Map<string, readonly (readonly Value[])[]>;
  readonly aliases: Map<string, string>;
  readonly functions: Map<string, FunctionNode>;
  readonly files: Map<string, Flow>;
  /** Directories fetched in this line: clones and unpacked downloads. */
  readonly fetchedTrees: string[];
  /** Absolute, or null when it is not known. May start with UNKNOWN after `cd "$DIR"`. */
  cwd: string | null;
  positional: readonly Value[] | null;
  inFunction: boolean;
  conditional: number;
  choice: number;
  widest: number;
}

export function createState(context: CommandContext, budget: Budget): ShellState {
  return {
    context,
    budget,
    vars: new Map(),
    aliases: new Map(),
    functions: new Map(),
    files: new Map(),
    fetchedTrees: [],
    cwd: context.cwd ?? null,
    positional: null,
    inFunction: false,
    conditional: 0,
    choice: 0,
    widest: 1,
  };
}

/** A subshell: it sees what was set, and what it sets or where it goes ends with it. */
export function inSubshell<T>(state: ShellState, run: () => T): T {
  const { vars, cwd, positional, conditional } = state;
  state.vars = new Map(vars);
  const result = run();
  Object.assign(state, { vars, cwd, positional, conditional });
  return result;
}

export function inBranch<T>(state: ShellState, run: () => T): T {
  state.conditional += 1;
  const result = run();
  state.conditional -= 1;
  return result;
}

export function homeOf(context: CommandContext): string {
  return context.home ?? '/home/~';
}

/** Sets a variable. In a branch that may not run, the earlier values stay possible. */
export function assign(state: ShellState, name: string, fields: readonly Value[]): void {
  const before = state.conditional > 0 ? (state.vars.get(name) ?? []) : [];
  const length = fields.reduce((sum, field) => sum + field.text.length, 0);
  if (before.length >= MAX_OPTIONS || length > MAX_LENGTH) {
    state.budget.exceeded = true;
    return;
  }
  state.vars.set(name, [...before, fields]);
}

/** Sets a variable to each of several things in turn, as a loop does. */
export function assignEach(state: ShellState, name: string, values: readonly Value[]): void {
  if (values.length > MAX_OPTIONS) state.budget.exceeded = true;
  state.vars.set(
    name,
    values.slice(0, MAX_OPTIONS).map((value) => [value]),
  );
}

function special(state: ShellState, name: string): readonly Value[] | null {
  switch (name) {
    case 'HOME':
      return [known(homeOf(state.context))];
    case 'PWD':
      return [known(state.cwd ?? '.')];
    case 'IFS':
      return [known(' \t\n')];
    case 'TMPDIR':
      return [known('/tmp')];
    case '@':
    case '*':
      return state.positional ?? [unknown(name)];
    default:
      return null;
  }
}

/** The fields that a variable holds; one unknown value when nothing in the line sets it. */
export function lookUp(state: ShellState, name: string): readonly Value[] {
  const options = state.vars.get(name);
  if (options !== undefined && options.length > 0) {
    state.widest = Math.max(state.widest, options.length);
    return options[state.choice % options.length] ?? [];
  }
  const fixed = special(state, name);
  if (fixed !== null) return fixed;
  if (/^[1-9]$/.test(name)) {
    if (state.positional !== null) {
      const value = state.positional[Number(name) - 1];
      return value === undefined ? [] : [value];
    }
    // A command line has no arguments of its own; `$9` serves only to part letters from a variable's name.
    if (!state.inFunction && Number(name) > 4) return [];
  }
  return [unknown(name)];
}

/** An empty part, `.` or `..`. */
const UNRESOLVED = /\/\.{0,2}(?:\/|$)/;

/** Resolves `.`, `..` and doubled slashes. Relative paths stay relative when the working directory is not known. */
export function resolvePath(path: string, cwd: string | null): string {
  const absolute = path.startsWith('/') || path.startsWith(UNKNOWN) || cwd === null ? path : `${cwd}/${path}`;
  return throughProc(shorten(absolute), cwd);
}

function shorten(path: string): string {
  const rooted = path.startsWith('/');
  if (rooted && !UNRESOLVED.test(path)) return path;
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue;
    if (part !== '..') parts.push(part);
    else if (parts.length > 0 && parts.at(-1) !== '..') parts.pop();
    else if (!rooted) parts.push('..');
  }
  return rooted ? `/${parts.join('/')}` : parts.join('/') || '.';
}

/** Linux: `/proc/PID/root` is the root directory again, and `/proc/self/cwd` the working directory. */
function throughProc(path: string, cwd: string | null): string {
  const match = /^\/proc\/[^/]+\/(?:task\/[^/]+\/)?(root|cwd)(?=\/|$)/.exec(path);
  if (match === null) return path;
  const rest = path.slice(match[0].length);
  return throughProc(shorten(match[1] === 'root' ? `/${rest}` : `${cwd ?? UNKNOWN}/${rest}`), cwd);
}
