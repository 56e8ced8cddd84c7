import type { CommandContext, Span } from '../verdict.ts';
import { applyAssignment, assignmentWord } from './assignments.ts';
import { runBuiltin } from './builtins.ts';
import { runCode } from './code.ts';
import { type Assigned, programName, type Redirect, type SimpleCommand } from './command.ts';
import { outputOf } from './flow.ts';
import { isEndlessSpawn, isForkBomb } from './fork-bomb.ts';
import { normalise } from './normalise.ts';
import {
  type AndOr,
  type Command,
  type CompoundList,
  type FunctionNode,
  type ParsedScript,
  type Pipeline,
  parseShell,
  type Statement,
  type SyntaxNode,
} from './parse.ts';
import { noteWrites, readRedirects, stdinOf, takesOutput } from './redirections.ts';
import {
  assign,
  assignEach,
  budgetFor,
  createState,
  inBranch,
  inSubshell,
  type ShellState,
} from './state.ts';
import { unwrap, wrapperDirectory } from './unwrap.ts';
import { type Flow, join, NO_FLOW, UNKNOWN, unknown, type Value, type Word } from './value.ts';
import { expandToOne, expandWord, type Substituter, walkSubstitutions } from './words.ts';

/** How deep commands may nest in commands before the judge gives up and asks. */
const MAX_DEPTH = 40;
/** Brackets open at once; every level is lexed again, so deeper texts would take more than linear time. */
const MAX_BRACKETS = 100;
/** How many times a command is judged anew for the values that a variable may have. */
const MAX_CHOICES = 256;
const EMPTY_CODE: SimpleCommand['code'] = new Set();

export interface WalkSink {
  command(command: SimpleCommand): void;
  forkBomb(span: Span): void;
}

export interface WalkOutcome {
  /** Something did not parse; what did is judged all the same. */
  readonly broken: boolean;
  /** Something was left unjudged because it is too long, too deep or too wide. */
  readonly exceeded: boolean;
}

/** Where a text that is being walked stands in relation to the original: its own offsets, or one place for all. */
interface Frame {
  readonly via: readonly string[];
  readonly inCode: boolean;
  readonly remote: boolean;
  readonly depth: number;
  /** Null while offsets of the walked text are offsets of the original. */
  readonly origin: Span | null;
  readonly stdin: Flow;
  readonly condition: boolean;
}

const TOP: Frame = {
  via: [],
  inCode: false,
  remote: false,
  depth: 0,
  origin: null,
  stdin: NO_FLOW,
  condition: false,
};

/** Finds every simple command of a shell text, wherever it hides, and hands each to the sink. */
export function walkShell(text: string, context: CommandContext, sink: WalkSink): WalkOutcome {
  const budget = budgetFor(text);
  if (isTooDeep(text)) return { broken: false, exceeded: true };
  const walker = new Walker(createState(context, budget), sink);
  const broken = walker.text(text, TOP);
  return { broken, exceeded: budget.exceeded };
}

function isTooDeep(text: string): boolean {
  let open = 0;
  for (const char of text) {
    if (char === '(') open += 1;
    else if (char === ')' && open > 0) open -= 1;
    if (open > MAX_BRACKETS) return true;
  }
  return false;
}

export class Walker implements Substituter {
  readonly state: ShellState;
  private readonly sink: WalkSink;
  private frame: Frame = TOP;

  constructor(state: ShellState, sink: WalkSink) {
    this.state = state;
    this.sink = sink;
  }

  place(start: number, end: number): Span {
    return this.frame.origin ?? { start, end };
  }

  get depth(): number {
    return this.frame.depth;
  }

  /** Runs with a changed frame and puts the old one back. */
  private within<T>(change: Partial<Frame>, run: () => T): T {
    const before = this.frame;
    this.frame = { ...before, ...change };
    const result = run();
    this.frame = before;
    return result;
  }

  /** Walks a text; true when it does not parse. */
  text(text: string, frame: Frame): boolean {
    const { budget } = this.state;
    budget.characters -= text.length;
    if (budget.characters < 0 || frame.depth > MAX_DEPTH) {
      budget.exceeded = true;
      return false;
    }
    const script = parseShell(text);
    this.within(frame, () => {
      this.statements(script.commands);
    });
    return (script.errors?.length ?? 0) > 0;
  }

  /**
   * Walks a text found inside a command: a shell's `-c`, `eval`, a here-document. Its findings are marked at that
   * command's place. Returns what it would print.
   */
  nestedText(
    text: string,
    at: Span,
    change: { via?: string; inCode?: boolean; remote?: boolean; stdin?: Flow; same?: boolean },
  ): Flow {
    const frame: Frame = {
      via: change.via === undefined ? this.frame.via : [...this.frame.via, change.via],
      inCode: change.inCode ?? this.frame.inCode,
      remote: change.remote ?? this.frame.remote,
      depth: this.frame.depth + 1,
      origin: this.frame.origin ?? at,
      stdin: change.stdin ?? NO_FLOW,
      condition: false,
    };
    const clean = normalise(text.replaceAll(UNKNOWN, '\uE001')).text.replaceAll('\uE001', UNKNOWN);
    const { budget } = this.state;
    budget.characters -= clean.length;
    if (budget.characters < 0 || frame.depth > MAX_DEPTH) {
      budget.exceeded = true;
      return NO_FLOW;
    }
    const script = parseShell(clean);
    const walk = () => this.within(frame, () => this.statements(script.commands));
    return change.same === true ? walk() : inSubshell(this.state, walk);
  }

  substitute(script: ParsedScript, _text: string): Flow {
    if (this.frame.depth >= MAX_DEPTH) {
      this.state.budget.exceeded = true;
      return NO_FLOW;
    }
    const origin =
      script.source === undefined ? this.frame.origin : (this.frame.origin ?? { start: 0, end: 0 });
    return inSubshell(this.state, () =>
      this.within({ depth: this.frame.depth + 1, origin, stdin: NO_FLOW, condition: false }, () =>
        this.statements(script.commands),
      ),
    );
  }

  private list(list: CompoundList): Flow {
    return this.statements(list.commands);
  }

  private statements(statements: readonly Statement[]): Flow {
    let out = NO_FLOW;
    for (const [index, statement] of statements.entries()) {
      const flow = this.node(statement.command);
      out = index === 0 ? flow : join(out, flow);
      if (this.state.budget.commands <= 0) {
        this.state.budget.exceeded = true;
        break;
      }
    }
    return out;
  }

  private node(node: SyntaxNode): Flow {
    switch (node.type) {
      case 'AndOr':
        return this.andOr(node);
      case 'Pipeline':
        return this.pipeline(node);
      case 'Command':
        return this.command(node);
      case 'Redirected': {
        const redirects = readRedirects(node.redirects, this.state, this);
        const stdin = stdinOf(node.redirects, redirects, this.state, this) ?? this.frame.stdin;
        const flow = this.within({ stdin }, () => this.node(node.command));
        noteWrites(redirects, flow, this.state);
        if (redirects.length > 0)
          this.emit([], [], redirects, { start: node.pos, end: node.end }, flow, false);
        return flow;
      }
      case 'Subshell':
        return inSubshell(this.state, () => this.list(node.body));
      case 'BraceGroup':
        return this.list(node.body);
      case 'If':
        this.conditionList(node.clause);
        return inBranch(this.state, () => {
          let flow = this.list(node.then);
          for (const branch of node.elif) {
            this.conditionList(branch.clause);
            flow = join(flow, this.list(branch.then));
          }
          return node.else === undefined ? flow : join(flow, this.list(node.else));
        });
      case 'While':
        if (isEndlessSpawn(node)) this.sink.forkBomb(this.place(node.pos, node.end));
        this.conditionList(node.clause);
        return inBranch(this.state, () => this.list(node.body));
      case 'For':
      case 'Select':
        return this.loop(
          node.name.value,
          node.wordlist === undefined
            ? null
            : node.wordlist.flatMap((word) => expandWord(word, this.state, this)),
          node.body,
        );
      case 'ArithmeticFor':
        if (isEndlessSpawn(node)) this.sink.forkBomb(this.place(node.pos, node.end));
        for (const part of [node.initialize, node.test, node.update])
          if (part !== undefined) walkSubstitutions(part, this);
        return inBranch(this.state, () => this.list(node.body));
      case 'Case':
        expandToOne(node.word, this.state, this);
        return inBranch(this.state, () =>
          node.items.map((item) => this.list(item.body)).reduce(join, NO_FLOW),
        );
      case 'Function':
        return this.define(node);
      case 'Coproc':
        return this.node(node.body);
      case 'CompoundList':
        return this.list(node);
      default:
        walkSubstitutions(node, this);
        return NO_FLOW;
    }
  }

  private conditionList(list: CompoundList): void {
    this.within({ condition: true }, () => this.list(list));
  }

  private andOr(node: AndOr): Flow {
    let out = NO_FLOW;
    for (const [index, command] of node.commands.entries()) {
      const flow = index === 0 ? this.node(command) : inBranch(this.state, () => this.node(command));
      out = join(out, flow);
    }
    return out;
  }

  private pipeline(node: Pipeline): Flow {
    const negated = node.prefixes.some((prefix) => prefix.type === 'Negation');
    if (node.commands.length === 1) {
      const [only] = node.commands;
      return only === undefined
        ? NO_FLOW
        : this.within({ condition: this.frame.condition || negated }, () => this.node(only));
    }
    let flow = this.frame.stdin;
    for (const command of node.commands) {
      const stdin = flow;
      flow = inSubshell(this.state, () => this.within({ stdin, condition: false }, () => this.node(command)));
    }
    return flow;
  }

  private loop(name: string, values: readonly Word[] | null, body: CompoundList): Flow {
    if (values === null) assign(this.state, name, [unknown(name)]);
    else assignEach(this.state, name, values);
    return inBranch(this.state, () => this.list(body));
  }

  private define(node: FunctionNode): Flow {
    const name = node.name.value;
    this.state.functions.set(name, node);
    if (isForkBomb(node)) this.sink.forkBomb(this.place(node.pos, node.end));
    const { positional, inFunction } = this.state;
    Object.assign(this.state, { positional: null, inFunction: true });
    inSubshell(this.state, () =>
      inBranch(this.state, () =>
        this.within({ stdin: NO_FLOW, condition: false }, () => this.node(node.body)),
      ),
    );
    Object.assign(this.state, { positional, inFunction });
    return NO_FLOW;
  }

  /** Walks a function's body again with the arguments of a call. */
  callFunction(node: FunctionNode, args: readonly Value[], stdin: Flow): Flow {
    const { positional, inFunction } = this.state;
    Object.assign(this.state, { positional: args, inFunction: true });
    const flow = this.within({ depth: this.frame.depth + 8, stdin, condition: false }, () =>
      this.node(node.body),
    );
    Object.assign(this.state, { positional, inFunction });
    return flow;
  }

  private command(node: Command): Flow {
    let flow = this.expandCommand(node, 0);
    const widest = Math.min(this.state.widest, MAX_CHOICES);
    for (let choice = 1; choice < widest && this.state.budget.commands > 0; choice += 1) {
      flow = join(flow, this.expandCommand(node, choice));
    }
    this.state.choice = 0;
    return flow;
  }

  private expandCommand(node: Command, choice: number): Flow {
    const { state } = this;
    state.choice = choice;
    state.widest = choice === 0 ? 1 : state.widest;
    const assignments: Assigned[] = [];
    for (const prefix of node.prefix)
      if (prefix.type === 'Assignment')
        assignments.push(...applyAssignment(prefix, node.name === undefined, state, this));
    const words: Word[] = node.name === undefined ? [] : expandWord(node.name, state, this);
    for (const argument of node.args) {
      if (argument.type === 'Word') words.push(...expandWord(argument, state, this));
      else words.push(assignmentWord(argument, state, this));
    }
    const redirects = readRedirects(node.redirects, this.state, this);
    const stdin = stdinOf(node.redirects, redirects, this.state, this) ?? this.frame.stdin;
    const widest = state.widest;
    const flow = this.within({ stdin }, () =>
      this.emit(words, assignments, redirects, this.place(node.pos, node.end), stdin, true),
    );
    state.widest = widest;
    noteWrites(redirects, flow, this.state);
    return redirects.some(takesOutput) ? NO_FLOW : flow;
  }

  /** Builds one simple command, judges it, and follows what it runs. Returns what it prints. */
  emit(
    words: readonly Word[],
    assignments: readonly Assigned[],
    redirects: readonly Redirect[],
    span: Span,
    stdin: Flow,
    follow: boolean,
  ): Flow {
    const { state, frame } = this;
    state.budget.commands -= 1;
    if (state.budget.commands <= 0 || frame.depth > MAX_DEPTH) {
      state.budget.exceeded = true;
      return NO_FLOW;
    }
    const [name, ...args] = words;
    const base: SimpleCommand = {
      program: name === undefined ? '' : programName(name.text),
      words,
      args,
      assignments,
      redirects,
      stdin,
      cwd: state.cwd,
      via: frame.via,
      runs: [],
      code: EMPTY_CODE,
      condition: frame.condition,
      inCode: frame.inCode,
      remote: frame.remote,
      inFunction: state.inFunction,
      span,
      context: state.context,
      fetchedTrees: state.fetchedTrees,
    };
    if (name === undefined || !follow) {
      this.sink.command(base);
      return NO_FLOW;
    }
    return this.follow(base);
  }

  private follow(command: SimpleCommand): Flow {
    const { state } = this;
    const alias = state.aliases.get(command.words[0]?.text ?? '');
    if (alias !== undefined && this.frame.depth >= MAX_DEPTH / 2) state.budget.exceeded = true;
    else if (alias !== undefined) {
      return this.nestedText(
        [alias, ...command.args.map((arg) => arg.raw || arg.text)].join(' '),
        command.span,
        { via: 'alias', stdin: command.stdin, same: true },
      );
    }
    const called = state.functions.get(command.program);
    if (called !== undefined && this.frame.depth < MAX_DEPTH / 2) {
      this.sink.command(command);
      return this.callFunction(called, command.args, command.stdin);
    }
    const code = runCode(command, state.files, this);
    const complete: SimpleCommand =
      code === null ? command : { ...command, runs: code.runs, code: code.facts };
    this.sink.command(complete);
    const built = runBuiltin(complete, state, this);
    if (built !== null) return built;
    let out: Flow | null = code?.output ?? null;
    const spaced = complete.words[0]?.text ?? '';
    if (/\S\s+\S/.test(spaced) && !spaced.includes('/ '))
      this.innerWords(splitWord(complete.words), complete, false);
    // A name that may turn out empty: what follows it may be the command.
    if (complete.words[0]?.text === UNKNOWN && complete.args.length > 0)
      this.innerWords(complete.args, complete, false);
    const cwd = state.cwd;
    state.cwd = wrapperDirectory(complete);
    for (const inner of unwrap(complete)) {
      const flow =
        inner.kind === 'text'
          ? this.nestedText(inner.text.text, complete.span, {
              via: command.program,
              remote: inner.remote || this.frame.remote,
              stdin: command.stdin,
            })
          : this.innerWords(inner.words, complete, inner.remote);
      out = out === null ? flow : join(out, flow);
    }
    state.cwd = cwd;
    return out ?? outputOf(complete, state.files);
  }

  /** Walks an argument list that inline code runs without a shell. */
  innerCommand(words: readonly Word[], outer: SimpleCommand): void {
    const change = {
      via: [...outer.via, outer.program],
      depth: this.frame.depth + 1,
      inCode: true,
      condition: false,
    };
    this.within(change, () => this.emit(words, [], [], outer.span, NO_FLOW, true));
  }

  /** Walks words found inside a command, as `sudo` or `xargs` hand them on. */
  innerWords(words: readonly Word[], outer: SimpleCommand, remote: boolean): Flow {
    const change = {
      via: [...outer.via, outer.program],
      depth: this.frame.depth + 1,
      remote: remote || this.frame.remote,
      condition: false,
    };
    return this.within(change, () =>
      this.emit(
        words,
        outer.assignments,
        [],
        this.place(outer.span.start, outer.span.end),
        outer.stdin,
        true,
      ),
    );
  }
}

/** `"rm -rf x"` as one word runs nothing, but whoever wrote it meant a command. */
function splitWord(words: readonly Word[]): Word[] {
  const [first, ...rest] = words;
  if (first === undefined) return [];
  return [
    ...first.text
      .trim()
      .split(/\s+/)
      .map((text) => ({ ...first, text })),
    ...rest,
  ];
}
