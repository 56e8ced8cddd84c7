import { isDynamic, type SimpleCommand } from './command.ts';
import { optionCommands } from './command-options.ts';
import { findParts } from './find.ts';
import { own } from './own.ts';
import { resolvePath } from './state.ts';
import { known, Taint, UNKNOWN, type Value, type Word } from './value.ts';
import { GLOBAL_VALUED, WRAPPERS, type Wrapper } from './wrappers.ts';

/** A command inside a command: its words, or a text for a shell. */
export type Inner = { readonly remote: boolean } & (
  | { readonly kind: 'words'; readonly words: readonly Word[] }
  | { readonly kind: 'text'; readonly text: Value }
);

const BY_NAME = new Map<string, Wrapper[]>();
for (const wrapper of WRAPPERS) {
  for (const name of wrapper.names) BY_NAME.set(name, [...(BY_NAME.get(name) ?? []), wrapper]);
}

/** The commands that this one would run, by what its words say. Empty when it is no wrapper. */
export function unwrap(command: SimpleCommand): Inner[] {
  const hidden = optionCommands(command).map((text): Inner => ({ kind: 'text', text, remote: false }));
  const opened = openPlain(command);
  return hidden.length === 0 ? opened : [...hidden, ...opened];
}

function openPlain(command: SimpleCommand): Inner[] {
  const special = own(SPECIAL, command.program);
  if (special !== undefined) return special(command);
  const wrappers = BY_NAME.get(command.program);
  return wrappers === undefined ? [] : wrappers.flatMap((wrapper) => open(wrapper, command.args));
}

function words(found: readonly Word[], remote = false): Inner[] {
  return found.length === 0 ? [] : [{ kind: 'words', words: found, remote }];
}

/** The place after the subcommand, with global options skipped; -1 when it is another subcommand. */
function afterSubcommand(subcommand: readonly string[], args: readonly Word[]): number {
  let at = 0;
  for (const wanted of subcommand) {
    while (args[at]?.text.startsWith('-')) at += GLOBAL_VALUED.includes(args[at]?.text ?? '') ? 2 : 1;
    if (args[at]?.text !== wanted) return -1;
    at += 1;
  }
  return at;
}

function open(wrapper: Wrapper, args: readonly Word[]): Inner[] {
  const start = afterSubcommand(wrapper.subcommand ?? [], args);
  if (start < 0) return [];
  const remote = wrapper.remote ?? false;
  if (wrapper.afterDashes) {
    const dashes = args.findIndex((word, index) => index >= start && word.text === '--');
    return dashes < 0 ? [] : words(args.slice(dashes + 1), remote);
  }
  const found: Inner[] = [];
  let skip = wrapper.operands ?? 0;
  let at = start;
  while (at < args.length) {
    const word = args[at];
    if (word === undefined) break;
    const { text } = word;
    if (text === '--') {
      at += 1;
      if (skip === 0 || skip >= 99) break;
      continue;
    }
    if (text.startsWith('-') && text.length > 1) {
      const option = readOption(wrapper, args, at);
      if (option.text !== null) found.push({ kind: 'text', text: option.text, remote });
      at = option.next;
      continue;
    }
    if (wrapper.assignments === true && /^\w+=/.test(text)) {
      at += 1;
      continue;
    }
    if (skip === 0) break;
    skip -= 1;
    at += 1;
  }
  const rest = skip >= 90 ? [] : args.slice(at);
  if (rest.length === 0) return found;
  if (wrapper.text !== true) return [...found, ...words(rest, remote)];
  return [...found, { kind: 'text', text: concatenate(rest), remote }];
}

function readOption(
  wrapper: Wrapper,
  args: readonly Word[],
  at: number,
): { next: number; text: Value | null } {
  const word = args[at] ?? { ...known(''), start: 0, end: 0, raw: '' };
  const following = args[at + 1] ?? null;
  const { text } = word;
  const textOptions = wrapper.textOptions ?? [];
  if (text.startsWith('--')) {
    const equals = text.indexOf('=');
    const name = equals < 0 ? text : text.slice(0, equals);
    if (textOptions.includes(name)) {
      return equals < 0
        ? { next: at + 2, text: following }
        : { next: at + 1, text: { ...word, text: text.slice(equals + 1) } };
    }
    if (equals >= 0) return { next: at + 1, text: null };
    const long = wrapper.valuedLong ?? [];
    const valued = long === 'all' ? !(wrapper.alone ?? []).includes(name) : long.includes(name);
    return { next: at + (valued ? 2 : 1), text: null };
  }
  for (let index = 1; index < text.length; index += 1) {
    const letter = text[index] ?? '';
    if (textOptions.includes(`-${letter}`)) {
      const glued = text.slice(index + 1);
      return glued === ''
        ? { next: at + 2, text: following }
        : { next: at + 1, text: { ...word, text: glued } };
    }
    if (wrapper.valued?.includes(letter))
      return { next: at + (index === text.length - 1 ? 2 : 1), text: null };
  }
  return { next: at + 1, text: null };
}

/** Words joined by spaces into one text, as `eval` and `ssh` do. */
export function concatenate(all: readonly Value[]): Value {
  const stream = all.find((value) => value.stream !== undefined)?.stream;
  return {
    text: all.map((value) => value.text).join(' '),
    taint: all.reduce((taint, value) => taint | value.taint, Taint.none as number),
    vars: all.flatMap((value) => value.vars),
    ...(stream === undefined ? {} : { stream }),
  };
}

function replaced(template: readonly Word[], mark: string, value: Value): Word[] {
  return template.map((word) =>
    mark !== '' && word.text.includes(mark)
      ? { ...word, text: word.text.replaceAll(mark, () => value.text), taint: word.taint | value.taint }
      : word,
  );
}

const LISTED_ITEM: Value = { text: UNKNOWN, taint: Taint.listed, vars: [] };

/** `find -exec`: `{}` is the starting point itself when nothing narrows the search. */
function openFind(command: SimpleCommand): Inner[] {
  const { roots, filtered, commands } = findParts(command);
  return commands.flatMap((template) =>
    roots.slice(0, 8).flatMap((root) => {
      const item = { text: filtered ? `${root}/${UNKNOWN}/${UNKNOWN}` : root, taint: Taint.listed, vars: [] };
      return words(replaced(template, '{}', item));
    }),
  );
}

/** `fd … -x CMD`, `-X CMD`. */
function openFd(command: SimpleCommand): Inner[] {
  const at = command.args.findIndex((word) => /^(?:-x|-X|--exec|--exec-batch)$/.test(word.text));
  if (at < 0) return [];
  const template = command.args.slice(at + 1);
  const marked = template.some((word) => word.text.includes('{}'));
  const place = template.at(-1);
  const filled = replaced(template, '{}', LISTED_ITEM);
  return words(marked || place === undefined ? filled : [...filled, { ...place, ...LISTED_ITEM }]);
}

const XARGS: Wrapper = {
  names: ['xargs'],
  valued: 'adEILnPs',
  valuedLong: [
    '--arg-file',
    '--delimiter',
    '--eof',
    '--max-lines',
    '--max-args',
    '--max-procs',
    '--max-chars',
    '--replace',
    '--process-slot-var',
  ],
};

/** `xargs`: what comes in on standard input is appended, or put in the place of `-I`'s mark. */
function openXargs(command: SimpleCommand): Inner[] {
  const inner = open(XARGS, command.args);
  return inner.flatMap((one): Inner[] => {
    if (one.kind !== 'words') return [one];
    const place = one.words.at(-1);
    if (place === undefined) return [];
    const items = xargsItems(command);
    const mark = xargsMark(command);
    if (mark !== null) return items.slice(0, 64).flatMap((item) => words(replaced(one.words, mark, item)));
    return words([
      ...one.words,
      ...items.map((item) => ({ ...item, start: place.start, end: place.end, raw: '' })),
    ]);
  });
}

function xargsItems(command: SimpleCommand): Value[] {
  const { stdin } = command;
  if (stdin.text !== null && !command.args.some((word) => /^(?:-a|--arg-file)/.test(word.text))) {
    const taint = stdin.taint;
    return stdin.text
      .split(/[\s\0]+/)
      .filter((text) => text !== '')
      .slice(0, 4096)
      .map((text) => ({ text: text.replace(/^(['"])(.*)\1$/, '$2'), taint, vars: [] }));
  }
  if (stdin.paths.length > 0)
    return stdin.paths.map((text) => ({ text, taint: stdin.taint | Taint.listed, vars: [] }));
  return [{ ...LISTED_ITEM, taint: Taint.listed | stdin.taint }];
}

function xargsMark(command: SimpleCommand): string | null {
  for (const [index, { text }] of command.args.entries()) {
    if (text === '-I') return command.args[index + 1]?.text ?? '{}';
    if (/^-I./.test(text)) return text.slice(2);
    if (text === '-i' || text === '--replace') return '{}';
    if (/^-i./.test(text)) return text.slice(2);
    if (text.startsWith('--replace=')) return text.slice(10);
    if (!text.startsWith('-')) return null;
  }
  return null;
}

/** GNU parallel: a template, then `:::` and the arguments; without them they come from standard input. */
function openParallel(command: SimpleCommand): Inner[] {
  const [template] = open(
    {
      names: ['parallel'],
      valued: 'jNLnSIdCPa',
      valuedLong: [
        '--jobs',
        '--arg-file',
        '--joblog',
        '--delay',
        '--timeout',
        '--retries',
        '--colsep',
        '--max-args',
        '--sshlogin',
        '--results',
        '--tmpdir',
        '--memfree',
        '--load',
      ],
    },
    command.args,
  );
  if (template?.kind !== 'words') return [];
  const cut = template.words.findIndex((word) => /^:::+\+?$/.test(word.text));
  const own = cut < 0 ? template.words : template.words.slice(0, cut);
  const given: readonly Value[] = cut < 0 ? xargsItems(command) : template.words.slice(cut + 1);
  if (own.length === 0) return given.slice(0, 64).map((text) => ({ kind: 'text', text, remote: false }));
  return given.slice(0, 64).map((item) => {
    const marked = own.some((word) => /\{[^{}\s]*\}/.test(word.text));
    const filled = own.map((word) => ({
      ...word,
      text: word.text.replace(/\{[^{}\s]*\}/g, () => item.text),
      taint: word.taint | item.taint,
    }));
    return { kind: 'text', text: concatenate(marked ? filled : [...filled, item]), remote: false };
  });
}

/** `command -v rm` asks where a program is; `command rm` runs it. */
function openCommand(command: SimpleCommand): Inner[] {
  let at = 0;
  for (; command.args[at]?.text.startsWith('-'); at += 1) {
    const text = command.args[at]?.text ?? '';
    if (/^-\w*[vV]/.test(text)) return [];
  }
  return words(command.args.slice(at));
}

/** `sudo -l`, `-v`, `-e`, `-s` and `-i` with no command run nothing that can be seen. */
function openSudo(command: SimpleCommand): Inner[] {
  const wrapper = BY_NAME.get(command.program)?.[0];
  if (wrapper === undefined) return [];
  const first = command.args.findIndex((word) => !word.text.startsWith('-'));
  const flags = command.args.slice(0, first < 0 ? undefined : first);
  if (
    flags.some(
      (word) => /^(?:-\w*[le]|--list|--edit)$/.test(word.text) && !/^-\w*[ugpCrtTUDhR]/.test(word.text),
    )
  )
    return [];
  return open(wrapper, command.args);
}

function openMake(command: SimpleCommand): Inner[] {
  return command.args.flatMap((word): Inner[] =>
    /^SHELL=./.test(word.text)
      ? [{ kind: 'text', text: { ...word, text: word.text.slice(6) }, remote: false }]
      : [],
  );
}

const SPECIAL: Readonly<Record<string, (command: SimpleCommand) => Inner[]>> = {
  find: openFind,
  gfind: openFind,
  bfs: openFind,
  fd: openFd,
  fdfind: openFd,
  xargs: openXargs,
  gxargs: openXargs,
  parallel: openParallel,
  command: openCommand,
  sudo: openSudo,
  make: openMake,
  gmake: openMake,
};

/** Where a wrapper takes the working directory: `env -C DIR`, `sudo -D DIR`. */
export function wrapperDirectory(command: SimpleCommand): string | null {
  const option = command.program === 'env' ? '-C' : command.program === 'sudo' ? '-D' : null;
  if (option === null) return command.cwd;
  const at = command.args.findIndex((word) => word.text === option || word.text === '--chdir');
  const folder = at < 0 ? undefined : command.args[at + 1];
  if (folder === undefined) return command.cwd;
  return isDynamic(folder) ? UNKNOWN : resolvePath(folder.text, command.cwd);
}
