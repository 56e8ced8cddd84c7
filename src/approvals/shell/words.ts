import { expandBraces, MAX_ALTERNATIVES } from './braces.ts';
import { applyOperation } from './parameters.ts';
import {
  children,
  type DoubleQuotedChild,
  type ParsedScript,
  parseShell,
  type SyntaxNode,
  type WordNode,
  type WordPart,
} from './parse.ts';
import { type Budget, homeOf, lookUp, type ShellState } from './state.ts';
import { type Flow, known, Taint, UNKNOWN, unknown, type Value, type Word } from './value.ts';

/** What word expansion needs of the walker: to judge a substitution and to say what it prints. */
export interface Substituter {
  /** Walks the script in a subshell; returns what it would print. */
  substitute(script: ParsedScript, text: string): Flow;
  /** Maps offsets of the source being walked to offsets of the original text. */
  place(start: number, end: number): { start: number; end: number };
}

const SPACE = /[ \t\n]+/;

/** The words that one word of the source becomes: quotes, braces, variables, substitutions, field splitting. */
export function expandWord(node: WordNode, state: ShellState, walker: Substituter): Word[] {
  const place = walker.place(node.pos, node.end);
  const raw = node.text;
  const parts = node.parts;
  if (parts === undefined) return [{ ...known(expandTilde(node.value, raw, state)), ...place, raw }];
  if (parts.some((part) => part.type === 'BraceExpansion')) {
    const spelled = expandBraces(raw);
    if (spelled.length >= MAX_ALTERNATIVES) state.budget.exceeded = true;
    if (spelled.length > 1 || spelled[0] !== raw) {
      return spelled.flatMap((text) =>
        reparse(text).flatMap((word) => expandParts(word, state, walker, place)),
      );
    }
  }
  return expandParts(node, state, walker, place);
}

/** The words of a text that stands for one word, such as one alternative of a brace expansion. */
function reparse(text: string): WordNode[] {
  const command = parseShell(`: ${text}`).commands[0]?.command;
  if (command?.type !== 'Command') return [];
  return command.args.filter((word) => word.type === 'Word');
}

interface Place {
  start: number;
  end: number;
}

function expandParts(node: WordNode, state: ShellState, walker: Substituter, place: Place): Word[] {
  const fields = new Fields(state.budget);
  const parts = node.parts;
  if (parts === undefined) fields.add(known(expandTilde(node.value, node.text, state)));
  else {
    for (const [index, part] of parts.entries()) {
      if (part.type === 'Literal' && index === 0)
        fields.add(known(expandTilde(part.value, part.text, state)));
      else expandPart(part, state, walker, fields);
    }
  }
  return fields.finish().map((value) => ({ ...value, ...place, raw: node.text }));
}

/** Collects the fields of one word; unquoted expansions split at blanks and vanish when empty. */
class Fields {
  private readonly done: Value[] = [];
  private readonly budget: Budget;
  private current: Joined | null = null;

  constructor(budget: Budget) {
    this.budget = budget;
  }

  add(value: Value): void {
    this.current ??= new Joined(this.budget);
    this.current.add(value);
  }

  addSplit(value: Value): void {
    const pieces = value.text.split(SPACE);
    for (const [index, text] of pieces.entries()) {
      if (index > 0) this.cut();
      if (text !== '') this.add({ ...value, text });
    }
  }

  cut(): void {
    if (this.current !== null) this.done.push(this.current.value());
    this.current = null;
  }

  finish(): Value[] {
    this.cut();
    return this.done;
  }
}

/** One value after the other, in time that grows with their number alone: a word may have thousands of parts. */
class Joined {
  private text = '';
  private taint = 0;
  private readonly vars = new Set<string>();
  private stream: Flow | undefined;
  private readonly budget: Budget;

  constructor(budget: Budget) {
    this.budget = budget;
  }

  add(value: Value): void {
    this.budget.expanded -= value.text.length + value.vars.length;
    if (this.budget.expanded < 0) {
      this.budget.exceeded = true;
      return;
    }
    this.text += value.text;
    this.taint |= value.taint;
    for (const name of value.vars) this.vars.add(name);
    this.stream ??= value.stream;
  }

  value(): Value {
    const { text, taint, stream } = this;
    return { text, taint, vars: [...this.vars], ...(stream === undefined ? {} : { stream }) };
  }
}

/** What becomes of several fields where one word is wanted. */
function joinFields(fields: readonly Value[], budget: Budget): Value {
  const joined = new Joined(budget);
  for (const [index, field] of fields.entries()) {
    if (index > 0) joined.add(known(' '));
    joined.add(field);
  }
  return joined.value();
}

function expandPart(part: WordPart, state: ShellState, walker: Substituter, fields: Fields): void {
  switch (part.type) {
    case 'Literal':
    case 'SingleQuoted':
    case 'AnsiCQuoted':
    case 'Glob':
      fields.add(known(part.value));
      return;
    case 'ExtendedGlob':
    case 'BraceExpansion':
      fields.add(known(part.text));
      return;
    case 'DoubleQuoted':
    case 'LocaleString':
      fields.add(known(''));
      for (const child of part.parts) expandQuoted(child, state, walker, fields);
      return;
    case 'ProcessSubstitution': {
      const stream = part.script === undefined ? undefined : walker.substitute(part.script, part.text);
      fields.add({
        ...unknown(),
        taint: stream?.taint ?? Taint.command,
        ...(stream === undefined ? {} : { stream }),
      });
      return;
    }
    default:
      for (const [index, value] of expansionValues(part, state, walker).entries()) {
        if (index > 0) fields.cut();
        fields.addSplit(value);
      }
  }
}

function expandQuoted(part: DoubleQuotedChild, state: ShellState, walker: Substituter, fields: Fields): void {
  if (part.type === 'Literal') {
    fields.add(known(part.value));
    return;
  }
  const each = /^\$(?:@|\{@\}|\{\w+\[@\]\})$/.test(part.text);
  for (const [index, value] of expansionValues(part, state, walker).entries()) {
    if (index > 0) {
      if (each) fields.cut();
      else fields.add(known(' '));
    }
    fields.add(value);
  }
}

/** The text of a here-document whose delimiter is not quoted: expansions happen, fields don't split. */
export function expandQuotedParts(parts: readonly WordPart[], state: ShellState, walker: Substituter): Value {
  const fields = new Fields(state.budget);
  fields.add(known(''));
  for (const part of parts) {
    switch (part.type) {
      case 'Literal':
      case 'SimpleExpansion':
      case 'ParameterExpansion':
      case 'CommandExpansion':
      case 'ArithmeticExpansion':
        expandQuoted(part, state, walker, fields);
        break;
      default:
        fields.add(known(part.text));
    }
  }
  return joinFields(fields.finish(), state.budget);
}

type Expansion = Exclude<DoubleQuotedChild, { type: 'Literal' }>;

function expansionValues(part: Expansion, state: ShellState, walker: Substituter): readonly Value[] {
  switch (part.type) {
    case 'SimpleExpansion':
      return lookUp(state, part.text.slice(1));
    case 'ParameterExpansion': {
      const values = applyOperation(part, state, (word) => expandToOne(word, state, walker));
      if (/@P\}$/.test(part.text)) for (const { text } of values) runPrompt(text, walker);
      return values;
    }
    case 'CommandExpansion':
      return [part.script === undefined ? unknown() : flowValue(walker.substitute(part.script, part.text))];
    case 'ArithmeticExpansion':
      if (part.expression !== undefined) walkSubstitutions(part.expression, walker);
      return [/^\$\(\(\s*\d+\s*\)\)$/.test(part.text) ? known(part.text.replace(/\D/g, '')) : known('1')];
  }
}

/** `${x@P}` runs the substitutions in a value, as the shell does with a prompt. */
function runPrompt(text: string, walker: Substituter): void {
  if (/\$\(|`/.test(text)) walker.substitute(parseShell(`: "${text.replaceAll('"', '')}"`), text);
}

/** The text that a substitution leaves behind: trailing newlines go (POSIX, 2.6.3). */
function flowValue(flow: Flow): Value {
  if (flow.text !== null) return { text: flow.text.replace(/\n+$/, ''), taint: flow.taint, vars: [] };
  const path = flow.paths.length === 1 ? flow.paths[0] : undefined;
  if (path !== undefined) return { text: path, taint: flow.taint, vars: [] };
  return unknown(undefined, flow.taint | Taint.command);
}

/** Judges the command substitutions below a node that is no word: arithmetic, tests. */
export function walkSubstitutions(node: SyntaxNode, walker: Substituter): void {
  const waiting = [node];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (
      next.type === 'CommandExpansion' ||
      next.type === 'ArithmeticCommandExpansion' ||
      next.type === 'ProcessSubstitution'
    ) {
      if (next.script !== undefined) walker.substitute(next.script, next.text);
    } else waiting.push(...children(next));
  }
}

/** A word in a place that does not split: an assignment, a redirection target, an operand. */
export function expandToOne(node: WordNode, state: ShellState, walker: Substituter): Value {
  return joinFields(expandWord(node, state, walker), state.budget);
}

/** `~`, `~/x`, `~name/x`; also after `=` or `:` no, since no rule needs it. */
function expandTilde(value: string, raw: string, state: ShellState): string {
  if (!raw.startsWith('~') || !value.startsWith('~')) return value;
  const slash = value.indexOf('/');
  const user = slash < 0 ? value.slice(1) : value.slice(1, slash);
  const rest = slash < 0 ? '' : value.slice(slash);
  if (user === '') return homeOf(state.context) + rest;
  if (user === '+') return (state.cwd ?? '.') + rest;
  if (user === '-') return UNKNOWN + rest;
  if (user === 'root') return `/root${rest}`;
  return /^[a-z_][\w.-]*$/i.test(user) ? `/home/${user}${rest}` : value;
}
