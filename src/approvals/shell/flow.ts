import { isDynamic, operands, pathOf, type SimpleCommand } from './command.ts';
import { decode, formatted, unescapeText } from './decode.ts';
import { findParts } from './find.ts';
import { own } from './own.ts';
import { isInside, isSecret, isSystemPath, isUnderHome } from './paths.ts';
import { type Flow, NO_FLOW, Taint, UNKNOWN, type Value } from './value.ts';
import { SHELLS } from './wrappers.ts';

/** What a command prints, as far as it can be told without running it; taint also where the text is not known. */
export function outputOf(command: SimpleCommand, files: ReadonlyMap<string, Flow>): Flow {
  const printer = own(PRINTERS, command.program);
  if (printer !== undefined) return printer(command, files);
  const read = inputOf(command, files);
  const decoded = decode(
    command.program,
    command.args.map((arg) => arg.text),
    read.text,
  );
  if (decoded !== undefined)
    return {
      text: decoded.text,
      taint:
        read.taint |
        decoded.taint |
        (decoded.text === null && read.text !== null ? Taint.command : Taint.none),
      paths: [],
    };
  if (SHELLS.has(command.program) && command.stdin !== NO_FLOW && command.stdin.text === null) {
    return { text: null, taint: Taint.shell | Taint.command, paths: [] };
  }
  if (isShellSetup(command)) return { text: null, taint: Taint.shellSetup, paths: [] };
  return { text: null, taint: (read.taint & ~Taint.file) | Taint.command, paths: [] };
}

/** How many operands of a filter come before its files. */
const NOT_FILES: Readonly<Record<string, number>> = {
  grep: 1,
  egrep: 1,
  rg: 1,
  sed: 1,
  awk: 1,
  gawk: 1,
  jq: 1,
  tr: 2,
  openssl: 9,
};

/** What a filter reads: the files that it is given, or its standard input. */
export function inputOf(command: SimpleCommand, files: ReadonlyMap<string, Flow>): Flow {
  const named = operands(command)
    .filter((word) => word.text !== '-')
    .slice(own(NOT_FILES, command.program) ?? 0);
  const flows = named.map((word) => files.get(pathOf(command, word)));
  const [only] = flows;
  if (only !== undefined && flows.length === 1) return only;
  let taint = command.stdin.taint;
  for (const [index, word] of named.entries()) {
    taint |= word.taint | (flows[index]?.taint ?? fileTaint(pathOf(command, word), command));
  }
  return { text: named.length === 0 ? command.stdin.text : null, taint, paths: [] };
}

export function fileTaint(path: string, command: Pick<SimpleCommand, 'context'>): number {
  if (isSecret(path, command.context)) return Taint.secret | Taint.file;
  const personal =
    path.startsWith('/') && isUnderHome(path, command.context) && !isInside(path, command.context, null);
  return isSystemPath(path) || personal ? Taint.system | Taint.file : Taint.file;
}

type Printer = (command: SimpleCommand, files: ReadonlyMap<string, Flow>) => Flow;

function text(value: string, taint: number = Taint.none): Flow {
  return { text: value, taint, paths: [] };
}

function tainted(taint: number): Flow {
  return { text: null, taint, paths: [] };
}

function joined(values: readonly Value[]): { text: string; taint: number } {
  return {
    text: values.map((value) => value.text).join(' '),
    taint: values.reduce((taint, value) => taint | value.taint, Taint.none as number),
  };
}

const echo: Printer = ({ args }) => {
  let at = 0;
  let escapes = false;
  while (/^-[neE]+$/.test(args[at]?.text ?? '')) {
    escapes ||= args[at]?.text.includes('e') ?? false;
    at += 1;
  }
  const all = joined(args.slice(at));
  return text(`${escapes ? unescapeText(all.text) : all.text}\n`, all.taint);
};

const printf: Printer = ({ args }) => {
  const values = args[0]?.text === '--' ? args.slice(1) : args[0]?.text === '-v' ? [] : args;
  const [format, ...rest] = values;
  if (format === undefined) return NO_FLOW;
  return text(
    formatted(
      format.text,
      rest.map((arg) => arg.text),
    ),
    joined(values).taint,
  );
};

const fetcher: Printer = () => tainted(Taint.network);

const cat: Printer = (command, files) => {
  const named = operands(command);
  if (named.length === 0) return command.stdin;
  const streams = named.map((word) =>
    word.text === '-' ? command.stdin : (word.stream ?? files.get(pathOf(command, word))),
  );
  if (streams.every((stream) => typeof stream?.text === 'string')) {
    return text(
      streams.map((stream) => stream?.text ?? '').join(''),
      streams.reduce((taint, stream) => taint | (stream?.taint ?? 0), Taint.none as number),
    );
  }
  return tainted(inputOf(command, files).taint);
};

const listing: Printer = (command) => {
  if (command.program !== 'find') return tainted(Taint.listed | Taint.command);
  const { roots, filtered } = findParts(command);
  return { text: null, taint: Taint.listed | Taint.command, paths: filtered ? [] : roots };
};

const environment: Printer = (command) =>
  operands(command).length === 0 ? tainted(Taint.environment) : tainted(Taint.command);

const pathEdit =
  (edit: (path: string) => string): Printer =>
  (command) => {
    const [word] = operands(command);
    return word === undefined || isDynamic(word) ? tainted(Taint.command) : text(edit(word.text), word.taint);
  };

const which: Printer = (command) => {
  const [word] = operands(command);
  return word === undefined ? NO_FLOW : text(`${word.text}\n`, word.taint);
};

const PRINTERS: Readonly<Record<string, Printer>> = {
  echo,
  print: echo,
  printf,
  cat,
  bat: cat,
  curl: fetcher,
  wget: fetcher,
  fetch: fetcher,
  aria2c: fetcher,
  axel: fetcher,
  lynx: fetcher,
  w3m: fetcher,
  http: fetcher,
  https: fetcher,
  xh: fetcher,
  nc: fetcher,
  ncat: fetcher,
  netcat: fetcher,
  telnet: fetcher,
  socat: fetcher,
  ftp: fetcher,
  tftp: fetcher,
  dig: fetcher,
  nslookup: fetcher,
  'lwp-request': fetcher,
  GET: fetcher,
  find: listing,
  fd: listing,
  fdfind: listing,
  locate: listing,
  ls: listing,
  env: environment,
  printenv: environment,
  export: environment,
  pwd: (command) => text(command.cwd ?? '.'),
  dirname: pathEdit((path) => path.replace(/\/*[^/]*\/*$/, '') || (path.startsWith('/') ? '/' : '.')),
  basename: pathEdit((path) => path.replace(/\/+$/, '').replace(/^.*\//s, '') || '/'),
  realpath: pathEdit((path) => path),
  readlink: pathEdit((path) => path),
  mktemp: () => ({ text: `/tmp/mktemp.${UNKNOWN}`, taint: Taint.none, paths: [] }),
  which,
  type: which,
  whereis: which,
  whoami: () => tainted(Taint.command),
  jobs: () => tainted(Taint.file),
  true: () => NO_FLOW,
  ':': () => NO_FLOW,
};

/** Programs whose output is made to be handed to `eval` or `source`, with what must stand in their arguments. */
const SHELL_SETUP: Readonly<Record<string, RegExp>> = {
  'ssh-agent': /^/,
  'gpg-agent': /^/,
  dircolors: /^/,
  keychain: /^/,
  lesspipe: /^/,
  'lesspipe.sh': /^/,
  locale: /^/,
  fzf: /--(?:bash|zsh)/,
  'docker-machine': /\benv\b/,
  'register-python-argcomplete': /^/,
  thefuck: /--alias/,
  aws_completer: /^/,
};
const SHELL_SETUP_WORDS =
  /^(?:(?:shell[. ])?hook|hook|init|env|shellenv|activate|completion|completions|export|docker-env|podman-env|shell\.\w+|path|luarocks|alias|gen-completions?|--completion|complete)$/;

function isShellSetup(command: SimpleCommand): boolean {
  const words = command.args.map((arg) => arg.text);
  const pattern = own(SHELL_SETUP, command.program);
  if (pattern !== undefined) return pattern.test(words.join(' '));
  const [first, second] = words.filter((word) => !/^-\w$/.test(word));
  return (
    SHELL_SETUP_WORDS.test(first ?? '') ||
    (first !== undefined &&
      /^(?:generate|print|config|generate-shell-completion)$/.test(first) &&
      second !== undefined)
  );
}
