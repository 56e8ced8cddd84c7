import { type CodeFact, isDynamic, operands, pathOf, type SimpleCommand } from './command.ts';
import { readInlineCode } from './inline.ts';
import { own } from './own.ts';
import { homeOf } from './state.ts';
import { concatenate } from './unwrap.ts';
import { type Flow, known, NO_FLOW, Taint, UNKNOWN, type Value, type Word } from './value.ts';
import type { Walker } from './walk.ts';
import { INTERPRETERS, interpreterName, type Language, SHELLS } from './wrappers.ts';

/** The code that a shell, an interpreter or `source` would execute, already walked. */
export interface RunCode {
  readonly runs: readonly Flow[];
  readonly facts: ReadonlySet<CodeFact>;
  readonly output: Flow | null;
}

const NO_FACTS: ReadonlySet<CodeFact> = new Set();

/** Null when the command executes no code of its own. */
export function runCode(
  command: SimpleCommand,
  files: ReadonlyMap<string, Flow>,
  walker: Walker,
): RunCode | null {
  const { program } = command;
  if (SHELLS.has(program)) return runShell(command, files, walker);
  if (program === 'source' || program === '.') return runSource(command, files, walker);
  if (program === 'eval')
    return {
      runs: command.args.length === 0 ? [] : [flowOf(concatenate(command.args))],
      facts: NO_FACTS,
      output: null,
    };
  if (program === 'at' || program === 'batch') return shellCode(command.stdin, command, walker);
  const interpreter = interpreterName(program);
  if (interpreter !== null) return runInterpreter(command, interpreter, files, walker);
  const file = files.get(pathOf(command, command.words[0] ?? known('')));
  if (file !== undefined && (command.words[0]?.text.includes('/') ?? false))
    return scriptFile(file, command, walker);
  return null;
}

function flowOf(value: Value): Flow {
  return value.stream ?? { text: value.text, taint: value.taint, paths: [] };
}

/** Walks a flow as shell code and says what it was. `args` are its `$1` and on, `zero` its `$0`. */
function shellCode(
  flow: Flow,
  command: SimpleCommand,
  walker: Walker,
  args: readonly Value[] = [],
  zero?: Value,
): RunCode {
  if (flow === NO_FLOW) return { runs: [], facts: NO_FACTS, output: null };
  if (flow.text === null || flow.text.trim() === UNKNOWN)
    return { runs: [flow], facts: NO_FACTS, output: null };
  const { state } = walker;
  const { positional } = state;
  const name = state.vars.get('0');
  state.positional = args.length > 0 ? args : positional;
  if (zero !== undefined) state.vars.set('0', [[zero]]);
  const output = walker.nestedText(flow.text, command.span, { via: command.program });
  state.positional = positional;
  if (zero !== undefined) state.vars.set('0', name ?? []);
  return { runs: [flow], facts: NO_FACTS, output };
}

/** A file that the same line wrote or fetched and now runs: by its first line, else as shell. */
function scriptFile(flow: Flow, command: SimpleCommand, walker: Walker): RunCode {
  const interpreter = /^#!\s*\S*?(?:\/env\s+(?:-S\s+)?)?([\w.-]+)(?:\s|$)/.exec(flow.text ?? '')?.[1];
  const language = interpreter === undefined ? null : interpreterName(interpreter.replace(/^.*\//, ''));
  const spec = language === null ? undefined : own(INTERPRETERS, language);
  if (spec !== undefined && flow.text !== null) return inlineCode(spec.language, flow, command, walker);
  return shellCode(flow, command, walker, command.args);
}

const SHELL_VALUED = ['-o', '-O', '+o', '+O', '--rcfile', '--init-file'];

function runShell(command: SimpleCommand, files: ReadonlyMap<string, Flow>, walker: Walker): RunCode {
  const { args } = command;
  let at = 0;
  let readsText = false;
  let standardInput = false;
  for (; at < args.length; at += 1) {
    const text = args[at]?.text ?? '';
    if (text === '--' || text === '-') {
      at += 1;
      break;
    }
    if (!/^[-+]./.test(text)) break;
    if (SHELL_VALUED.includes(text) || /^[-+][a-zA-Z]+[oO]$/.test(text)) at += 1;
    else if (/^-[a-zA-Z]*c[a-zA-Z]*$/.test(text) || text === '--command') readsText = true;
    else if (/^-[a-zA-Z]*s/.test(text)) standardInput = true;
    else if (/^-[a-zA-Z]*n[a-zA-Z]*$/.test(text)) return { runs: [], facts: NO_FACTS, output: null };
  }
  const operand = args[at];
  if (readsText)
    return operand === undefined
      ? { runs: [], facts: NO_FACTS, output: null }
      : shellCode(flowOf(operand), command, walker, args.slice(at + 2), args[at + 1]);
  if (operand === undefined || standardInput || /^\/dev\/(?:stdin|fd\/0)$/.test(operand.text))
    return shellCode(command.stdin, command, walker, args.slice(at));
  if (operand.stream !== undefined) return shellCode(operand.stream, command, walker, args.slice(at + 1));
  const file = files.get(pathOf(command, operand));
  return file === undefined
    ? { runs: fetchedTree(command, operand), facts: NO_FACTS, output: null }
    : shellCode(file, command, walker, args.slice(at + 1));
}

function fetchedTree(command: SimpleCommand, operand: Word): Flow[] {
  const path = pathOf(command, operand);
  return isFetched(command, path) ? [{ text: null, taint: Taint.network, paths: [] }] : [];
}

/** Whether a path lies in a directory that the same line cloned or unpacked. */
export function isFetched(command: SimpleCommand, path: string): boolean {
  return command.fetchedTrees.some((tree) =>
    tree === '.' ? !path.startsWith('/') : path === tree || path.startsWith(`${tree}/`),
  );
}

function runSource(command: SimpleCommand, files: ReadonlyMap<string, Flow>, walker: Walker): RunCode {
  const [operand] = operands(command);
  if (operand === undefined) return { runs: [], facts: NO_FACTS, output: null };
  if (operand.stream !== undefined) return shellCode(operand.stream, command, walker);
  if (/^\/dev\/(?:stdin|fd\/0)$/.test(operand.text)) return shellCode(command.stdin, command, walker);
  const file = files.get(pathOf(command, operand));
  return file === undefined
    ? { runs: fetchedTree(command, operand), facts: NO_FACTS, output: null }
    : shellCode(file, command, walker);
}

function runInterpreter(
  command: SimpleCommand,
  interpreter: string,
  files: ReadonlyMap<string, Flow>,
  walker: Walker,
): RunCode | null {
  const spec = own(INTERPRETERS, interpreter);
  if (spec === undefined) return null;
  const code = spec.language === 'awk' ? awkProgram(command) : optionCode(command, spec.options);
  if (code !== null) return inlineCode(spec.language, flowOf(code), command, walker);
  if (spec.language === 'awk') return null;
  const [script] = operands(command, [
    '-W',
    '-X',
    '-r',
    '--require',
    '-I',
    '-M',
    '-m',
    '--import',
    '--loader',
    '-C',
  ]);
  if (command.args.some((word) => word.text === '-m' || word.text === '--version' || word.text === '--check'))
    return null;
  if (script !== undefined && script.text !== '-' && script.text !== '/dev/stdin') {
    if (script.stream !== undefined) return inlineCode(spec.language, script.stream, command, walker);
    const file = files.get(pathOf(command, script));
    return file === undefined ? null : inlineCode(spec.language, file, command, walker);
  }
  return command.stdin === NO_FLOW ? null : inlineCode(spec.language, command.stdin, command, walker);
}

/** The code given by an option: `-c CODE`, `-ce`, `-e CODE -e CODE`, `-ne`, `eval CODE`. */
function optionCode(command: SimpleCommand, options: readonly string[]): Value | null {
  const found: Value[] = [];
  const letters = options.filter((option) => /^-[a-zA-Z]$/.test(option)).map((option) => option.slice(1));
  for (const [index, word] of command.args.entries()) {
    const { text } = word;
    const next = command.args[index + 1];
    if (options.includes(text)) {
      if (next !== undefined) found.push(next);
    } else if (/^--\w+=/.test(text) && options.includes(text.slice(0, text.indexOf('=')))) {
      found.push({ ...word, text: text.slice(text.indexOf('=') + 1) });
    } else if (/^-[a-zA-Z0-9]/.test(text) && !text.startsWith('--')) {
      const at = [...text].findIndex((letter, position) => position > 0 && letters.includes(letter));
      const before = text.slice(1, Math.max(1, at));
      if (at > 0 && /^[a-zA-Z0-9]*$/.test(before) && !/[IMmWXrC]/.test(before)) {
        const glued = text.slice(at + 1);
        if (glued !== '') found.push({ ...word, text: glued });
        else if (next !== undefined) found.push(next);
      }
    } else if (!text.startsWith('-')) break;
    if (found.length > 0 && command.program !== 'perl' && command.program !== 'ruby') break;
  }
  if (found.length === 0) return null;
  const all = concatenate(found);
  return { ...all, text: found.map((value) => value.text).join('\n') };
}

function awkProgram(command: SimpleCommand): Value | null {
  if (command.args.some((word) => /^(?:-f|--file)/.test(word.text))) return null;
  return operands(command, ['-F', '-v', '-e'])[0] ?? null;
}

/** Calls of one piece of inline code that are walked. */
const MAX_CALLS = 256;

/** Reads inline code, walks what it hands to a shell, and says what it does. */
function inlineCode(language: Language, flow: Flow, command: SimpleCommand, walker: Walker): RunCode {
  if (flow.text === null) return { runs: [flow], facts: NO_FACTS, output: null };
  const code = readInlineCode(language, flow.text);
  const facts = new Set(code.facts);
  // What is not walked could be anything.
  if (code.shellTexts.length > MAX_CALLS || code.commands.length > MAX_CALLS) facts.add('spawns-unknown');
  for (const text of code.shellTexts.slice(0, MAX_CALLS)) {
    if (text.startsWith(UNKNOWN)) facts.add('spawns-unknown');
    else walker.nestedText(text, command.span, { via: command.program, inCode: true });
  }
  for (const list of code.commands.slice(0, MAX_CALLS)) {
    if (list[0] === undefined || list[0].startsWith(UNKNOWN)) continue;
    const words = list.map(
      (text): Word => ({
        ...known(text.replace(/^~(?=\/|$)/, homeOf(walker.state.context))),
        ...command.span,
        raw: text,
      }),
    );
    walker.innerCommand(words, command);
  }
  if (code.shellTexts.some(startsShell) || code.commands.some((list) => startsShell(list.join(' '))))
    facts.add('spawns-shell');
  return {
    runs:
      isDynamic({ ...known(flow.text) }) && flow.text.trim() === UNKNOWN ? [flow] : [{ ...flow, text: '' }],
    facts,
    output: null,
  };
}

/** A bare shell, as `pty.spawn('/bin/sh')` and `exec "/bin/bash -i"` start it. */
function startsShell(text: string): boolean {
  const [program = '', ...rest] = text.trim().split(/\s+/);
  const name = program.slice(program.lastIndexOf('/') + 1);
  return (
    SHELLS.has(name) &&
    rest.every((word) => /^-(?:i|l|p|li|il|bash|sh)$/.test(word) || SHELLS.has(word) || word === name)
  );
}
