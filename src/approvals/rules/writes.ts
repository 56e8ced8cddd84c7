import { has, operands, optionValues, pathOf, type SimpleCommand } from '../shell/command.ts';
import { own } from '../shell/own.ts';
import { resolvePath } from '../shell/state.ts';
import type { Value } from '../shell/value.ts';

/** How a command changes a file: empties it, adds to it, puts another in its place, or edits it where it is. */
export type WriteKind = 'truncate' | 'append' | 'copy' | 'move' | 'link' | 'edit' | 'extract' | 'download';

export interface Write {
  readonly kind: WriteKind;
  readonly path: string;
  readonly target: Value;
}

const cache = new WeakMap<SimpleCommand, readonly Write[]>();

/** Every path that the command writes, by its redirections and by what its program does with its arguments. */
export function writesOf(command: SimpleCommand): readonly Write[] {
  const before = cache.get(command);
  if (before !== undefined) return before;
  const found = [...redirected(command), ...(own(WRITERS, command.program)?.(command) ?? [])];
  cache.set(command, found);
  return found;
}

function redirected(command: SimpleCommand): Write[] {
  return command.redirects.flatMap(({ operator, target, path }): Write[] =>
    operator.includes('>') ? [{ kind: operator.includes('>>') ? 'append' : 'truncate', path, target }] : [],
  );
}

type Writer = (command: SimpleCommand) => Write[];

function write(command: SimpleCommand, kind: WriteKind, target: Value): Write {
  return { kind, path: pathOf(command, target), target };
}

/** `cp A B`, `mv -t DIR A B`, `ln -s A B`: the last operand, or `-t`'s. */
const lastOperand =
  (kind: WriteKind, valued: readonly string[] = []): Writer =>
  (command) => {
    const folder = optionValues(command, '-t', '--target-directory');
    if (folder.length > 0) return folder.map((word) => write(command, kind, word));
    const named = operands(command, valued);
    const last = named.at(-1);
    return last === undefined || named.length < 2 ? [] : [write(command, kind, last)];
  };

const editInPlace =
  (flag: RegExp): Writer =>
  (command) => {
    if (!command.args.some((word) => flag.test(word.text))) return [];
    return operands(command, ['-e', '-f']).map((word) => write(command, 'edit', word));
  };

const byOption =
  (kind: WriteKind, ...options: readonly string[]): Writer =>
  (command) =>
    optionValues(command, ...options).map((word) => write(command, kind, word));

/** `w FILE`, as a command or as a flag of `s`. */
const SED_WRITES = /(?:^|[;{}\n]|\/[gpiIeM\d]*)\s*(?:\d+|\$)?\s*[wW]\s+([^\n;}]+)/g;
const sed: Writer = (command) => [
  ...editInPlace(/^(?:-\w*i|--in-place)/)(command),
  ...inText(command, SED_WRITES),
];

/** `print > "FILE"` of awk. */
const fromProgram: Writer = (command) => inText(command, />{1,2}\s*"([^"]+)"/g);

/** The files that a program text among the arguments names. */
function inText(command: SimpleCommand, pattern: RegExp): Write[] {
  return command.args.flatMap((word) =>
    [...word.text.matchAll(pattern)].map((match) =>
      write(command, 'truncate', { ...word, text: (match[1] ?? '').trim() }),
    ),
  );
}

const WRITERS: Readonly<Record<string, Writer>> = {
  tee: (command) =>
    operands(command).map((word) =>
      write(command, has(command, 'a', 'append') ? 'append' : 'truncate', word),
    ),
  sponge: (command) => operands(command).map((word) => write(command, 'truncate', word)),
  cp: lastOperand('copy', ['-S', '--suffix']),
  gcp: lastOperand('copy'),
  mv: lastOperand('move', ['-S', '--suffix']),
  ln: lastOperand('link'),
  install: (command) =>
    has(command, 'd', 'directory')
      ? []
      : lastOperand('copy', ['-m', '-o', '-g', '-S', '--mode', '--owner', '--group'])(command),
  rsync: lastOperand('copy', ['-e', '--rsh', '--exclude', '--include', '-f', '--filter']),
  scp: lastOperand('copy', ['-i', '-P', '-F', '-o', '-c', '-l', '-S', '-J']),
  sed,
  gsed: sed,
  awk: fromProgram,
  gawk: fromProgram,
  mawk: fromProgram,
  find: byOption('truncate', '-fprint', '-fprint0', '-fls', '-fprintf'),
  perl: editInPlace(/^-\w*i/),
  ruby: editInPlace(/^-\w*i/),
  ed: (command) =>
    operands(command)
      .slice(0, 1)
      .flatMap((word) => (command.stdin.text !== null ? [write(command, 'edit', word)] : [])),
  ex: (command) => operands(command, ['-c']).map((word) => write(command, 'edit', word)),
  patch: (command) => {
    const folder = optionValues(command, '-d', '--directory');
    return [...folder, ...operands(command, ['-i', '-p', '-d', '-o']).slice(0, 1)].map((word) =>
      write(command, 'edit', word),
    );
  },
  curl: (command) => [
    ...byOption('download', '-o', '--output', '--output-dir')(command),
    ...clustered(command, /^-[a-zA-Z]+o$/),
  ],
  wget: (command) => [
    ...byOption('download', '-O', '--output-document', '-P', '--directory-prefix')(command),
    ...clustered(command, /^-[a-zA-Z]+[OP]$/),
  ],
  aria2c: byOption('download', '-d', '--dir', '-o'),
  tar: (command) =>
    !extracts(command) ? [] : byOption('extract', '-C', '--directory', '--one-top-level')(command),
  bsdtar: byOption('extract', '-C', '--directory'),
  unzip: byOption('extract', '-d'),
  '7z': byOption('extract', '-o'),
  gpg: byOption('copy', '-o', '--output'),
  openssl: byOption('copy', '-out'),
  'update-alternatives': (command) =>
    operands(command)
      .slice(0, 1)
      .map((word) => write(command, 'link', word)),
  truncate: (command) =>
    operands(command, ['-s', '--size', '-r', '--reference']).map((word) => write(command, 'truncate', word)),
  dd: (command) =>
    command.args.flatMap((word) => {
      if (!word.text.startsWith('of=')) return [];
      const target = { ...word, text: word.text.slice(3) };
      return [{ kind: 'truncate' as const, path: resolvePath(target.text, command.cwd), target }];
    }),
  sudoedit: (command) => operands(command).map((word) => write(command, 'edit', word)),
  visudo: () => [],
};

function extracts(command: SimpleCommand): boolean {
  const first = command.args[0]?.text ?? '';
  return has(command, 'x', 'extract', 'get') || (/^[a-zA-Z]+$/.test(first) && first.includes('x'));
}

/** The word after a cluster such as `-fsSLo`. */
function clustered(command: SimpleCommand, cluster: RegExp): Write[] {
  return command.args.flatMap((word, index) => {
    const next = command.args[index + 1];
    return cluster.test(word.text) && next !== undefined ? [write(command, 'download', next)] : [];
  });
}
