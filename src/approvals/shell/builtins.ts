import { isDynamic, operands, optionValues, pathOf, type SimpleCommand } from './command.ts';
import { own } from './own.ts';
import { assign, homeOf, resolvePath, type ShellState } from './state.ts';
import { concatenate } from './unwrap.ts';
import { type Flow, known, NO_FLOW, Taint, UNKNOWN, unknown } from './value.ts';
import type { Walker } from './walk.ts';

type Builtin = (command: SimpleCommand, state: ShellState, walker: Walker) => Flow | null;

/**
 * Shell builtins that change what the rest of the line means, or that run their arguments. Null means that the
 * command is no such builtin and may be looked through like any other.
 */
export function runBuiltin(command: SimpleCommand, state: ShellState, walker: Walker): Flow | null {
  const fetched = noteFetched(command, state);
  const builtin = own(BUILTINS, command.program);
  return builtin === undefined ? fetched : builtin(command, state, walker);
}

/** No directory has a longer path on Linux. */
const PATH_MAX = 4096;

const changeDirectory: Builtin = (command, state) => {
  const [target] = operands(command);
  if (target === undefined) state.cwd = homeOf(state.context);
  else if (target.text === '-') state.cwd = UNKNOWN;
  else
    state.cwd =
      isDynamic(target) && !target.text.startsWith('/') ? UNKNOWN : resolvePath(target.text, state.cwd);
  if (state.cwd !== null && state.cwd.length > PATH_MAX) state.cwd = UNKNOWN;
  if (state.cwd !== null && !state.cwd.startsWith('/') && !state.cwd.startsWith(UNKNOWN)) {
    state.cwd = state.context.cwd === undefined ? state.cwd : UNKNOWN;
  }
  return NO_FLOW;
};

const declare: Builtin = (command, state) => {
  for (const word of command.args) {
    const match = /^(\w+)=([\s\S]*)$/.exec(word.text);
    if (match?.[1] !== undefined && match[2] !== undefined && !state.vars.has(match[1])) {
      assign(state, match[1], [{ ...word, text: match[2] }]);
    }
  }
  return null;
};

const read: Builtin = (command, state) => {
  const { stdin } = command;
  const names = operands(command, ['-d', '-n', '-N', '-p', '-t', '-u', '-i', '-a']);
  const lines =
    stdin.text !== null && stdin.text.length < 4096
      ? stdin.text.split('\n').filter((line) => line !== '')
      : null;
  for (const name of names.length === 0 ? [known('REPLY')] : names) {
    if (lines !== null && names.length === 1)
      state.vars.set(
        name.text,
        lines.map((line) => [known(line, stdin.taint)]),
      );
    else if (stdin.paths.length > 0)
      state.vars.set(
        name.text,
        stdin.paths.map((path) => [known(path, stdin.taint)]),
      );
    else
      state.vars.set(name.text, [
        [unknown(name.text, stdin === NO_FLOW ? Taint.none : stdin.taint | Taint.listed)],
      ]);
  }
  return NO_FLOW;
};

const readLines: Builtin = (command, state, walker) => {
  for (const callback of optionValues(command, '-C')) {
    walker.nestedText(callback.text, command.span, { via: command.program });
  }
  return read(command, state, walker);
};

const evaluate: Builtin = (command, _state, walker) => {
  const all = concatenate(command.args);
  // What is not known at all is the rule's business, and there is nothing to walk.
  if (all.text.trim() === UNKNOWN) return NO_FLOW;
  return walker.nestedText(all.text, command.span, { via: 'eval', same: true, stdin: command.stdin });
};

const BUILTINS: Readonly<Record<string, Builtin>> = {
  cd: changeDirectory,
  pushd: changeDirectory,
  chdir: changeDirectory,
  popd: (_command, state) => {
    state.cwd = UNKNOWN;
    return NO_FLOW;
  },
  export: declare,
  declare,
  typeset: declare,
  local: declare,
  readonly: declare,
  read,
  mapfile: readLines,
  readarray: readLines,
  eval: evaluate,
  trap: (command, _state, walker) => {
    const [action] = operands(command);
    if (action === undefined || command.args.length < 2) return NO_FLOW;
    walker.nestedText(action.text, command.span, { via: 'trap' });
    return NO_FLOW;
  },
  alias: (command, state) => {
    for (const { text } of command.args) {
      const equals = text.indexOf('=');
      if (equals > 0) state.aliases.set(text.slice(0, equals), text.slice(equals + 1));
    }
    return NO_FLOW;
  },
  unalias: () => NO_FLOW,
  set: (command, state) => {
    const dashes = command.args.findIndex((word) => word.text === '--');
    if (dashes >= 0) state.positional = command.args.slice(dashes + 1);
    else if (command.args.length > 0 && !/^[-+]/.test(command.args[0]?.text ?? ''))
      state.positional = command.args;
    return command.args.length === 0 ? { text: null, taint: Taint.environment, paths: [] } : NO_FLOW;
  },
  shift: (_command, state) => {
    state.positional = state.positional?.slice(1) ?? null;
    return NO_FLOW;
  },
};

const ARCHIVERS = /^(?:tar|bsdtar|unzip|7z|7za|gunzip|unxz|cpio)$/;

/** Remembers what the line fetches: files of `curl -o` and `wget`, clones, unpacked downloads. */
function noteFetched(command: SimpleCommand, state: ShellState): null {
  const { program, args } = command;
  const fetched: Flow = { text: null, taint: Taint.network, paths: [] };
  const note = (name: string) => state.files.set(resolvePath(name, state.cwd), fetched);
  if (
    program === 'curl' ||
    program === 'wget' ||
    program === 'aria2c' ||
    program === 'fetch' ||
    program === 'http'
  ) {
    const wget = program === 'wget' || program === 'fetch';
    for (const [index, { text }] of args.entries()) {
      const next = args[index + 1]?.text;
      const glued = /^(?:--output(?:-document)?=|-o|-O)(.+)$/.exec(text)?.[1];
      if (
        /^(?:-o|--output|--output-document|--out)$/.test(text) ||
        /^-\w*o$/.test(text) ||
        (wget && /^-\w*O$/.test(text))
      ) {
        if (next !== undefined) note(next);
      } else if (glued !== undefined && (wget || !text.startsWith('-O'))) note(glued);
      const url = /^(?:https?|ftp):\/\/[^/]+\/(?:[^?#]*\/)?([^/?#]+)/.exec(text)?.[1];
      if (
        url !== undefined &&
        (wget || program === 'aria2c' || args.some((arg) => /^-\w*O|^--remote-name/.test(arg.text)))
      )
        note(url);
    }
  } else if (program === 'git' || program === 'hg') {
    const [verb, url, folder] = operands(command, [
      '--depth',
      '-b',
      '--branch',
      '-C',
      '-o',
      '--origin',
      '-j',
      '--jobs',
      '--filter',
      '--reference',
      '-c',
      '--config',
    ]);
    if (verb?.text === 'clone' && url !== undefined) {
      const name =
        folder?.text ??
        url.text
          .replace(/\/+$/, '')
          .replace(/\.git$/, '')
          .replace(/^.*[/:]/s, '');
      state.fetchedTrees.push(resolvePath(name, state.cwd));
    }
  } else if (ARCHIVERS.test(program)) {
    const sources = operands(command).map((word) => state.files.get(pathOf(command, word)));
    const tainted =
      (command.stdin.taint | sources.reduce((taint, flow) => taint | (flow?.taint ?? 0), 0)) & Taint.network;
    if (tainted !== 0) state.fetchedTrees.push(archiveTarget(command, state.cwd));
  } else if (program === 'mv' || program === 'cp' || program === 'install') {
    const [from, to] = operands(command, ['-m', '-o', '-g', '-t']);
    const flow = from === undefined ? undefined : state.files.get(pathOf(command, from));
    if (flow !== undefined && to !== undefined) state.files.set(pathOf(command, to), flow);
  } else if (program === 'tee') {
    for (const word of operands(command)) state.files.set(pathOf(command, word), command.stdin);
  } else if (program === 'dd' || program === 'base64' || program === 'openssl') {
    const out = args.find((arg) => arg.text.startsWith('of='));
    if (out !== undefined) state.files.set(resolvePath(out.text.slice(3), state.cwd), command.stdin);
  }
  return null;
}

function archiveTarget(command: SimpleCommand, cwd: string | null): string {
  const at = command.args.findIndex((word) => /^(?:-C|--directory|-d)$/.test(word.text));
  const folder = at < 0 ? undefined : command.args[at + 1];
  return folder === undefined ? (cwd ?? '.') : resolvePath(folder.text, cwd);
}
