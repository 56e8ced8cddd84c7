import { isDynamic, operands, type SimpleCommand } from '../shell/command.ts';
import { findParts } from '../shell/find.ts';
import { hasGlob } from '../shell/glob.ts';
import { counted, type Look, lines, type Preview, readableBytes, SHOWN_NAMES, withNames } from './exec.ts';

const MAX_STARTS = 200;

/** A path that no program takes for an option. */
const plain = (path: string) => (path.startsWith('-') ? `./${path}` : path);

/** Files below the given paths with their sizes, by `find` and `stat` (GNU and busybox agree on `stat -c`). */
export async function filesBelow(
  paths: readonly string[],
  look: Look,
  tests: readonly string[] = [],
): Promise<Preview | null> {
  const starts = await expandStarts(paths, look);
  if (starts === null) return null;
  if (starts.length === 0) return { text: 'nothing: no such file', files: 0, bytes: 0, names: [] };
  const output = await look([
    'find',
    ...starts.map(plain),
    ...tests,
    '!',
    '-type',
    'd',
    '-exec',
    'stat',
    '-c',
    '%s %n',
    '{}',
    '+',
  ]);
  if (output === null) return namesOnly(starts, tests, look);
  const found = lines(output).map((line) => /^(\d+) (.*)$/.exec(line));
  const names = found.flatMap((match) => (match?.[2] === undefined ? [] : [match[2].replace(/^\.\//, '')]));
  const bytes = found.reduce((sum, match) => sum + Number(match?.[1] ?? 0), 0);
  return {
    text: withNames(`${counted(names.length, 'file')}, ${readableBytes(bytes)}`, names),
    files: names.length,
    bytes,
    names: names.slice(0, SHOWN_NAMES),
  };
}

/** Where `stat` speaks another dialect, sizes are left out. */
async function namesOnly(
  starts: readonly string[],
  tests: readonly string[],
  look: Look,
): Promise<Preview | null> {
  const output = await look(['find', ...starts.map(plain), ...tests, '!', '-type', 'd', '-print']);
  if (output === null) return null;
  const names = lines(output);
  return {
    text: withNames(counted(names.length, 'file'), names),
    files: names.length,
    names: names.slice(0, SHOWN_NAMES),
  };
}

/** Globs in the last component are worked out by `find -name`; others stay unknown. Null when that is not possible. */
async function expandStarts(paths: readonly string[], look: Look): Promise<string[] | null> {
  const starts: string[] = [];
  for (const path of paths.slice(0, MAX_STARTS)) {
    const slash = path.replace(/\/+$/, '').lastIndexOf('/');
    const folder = slash < 0 ? '.' : path.slice(0, slash) || '/';
    const name = path.slice(slash + 1).replace(/\/+$/, '');
    const list = hasGlob(folder)
      ? null
      : hasGlob(name)
        ? await look([
            'find',
            plain(folder),
            '-mindepth',
            '1',
            '-maxdepth',
            '1',
            '-name',
            name,
            ...(name.startsWith('.') ? [] : ['!', '-name', '.*']),
          ])
        : await look(['find', plain(path), '-maxdepth', '0']);
    if (list === null && hasGlob(path)) return null;
    if (list !== null) starts.push(...lines(list));
  }
  return starts.slice(0, MAX_STARTS);
}

export function previewRemoval(command: SimpleCommand, look: Look): Promise<Preview | null> {
  const words = operands(command);
  if (words.length === 0 || words.some(isDynamic)) return Promise.resolve(null);
  return filesBelow(
    words.map((word) => word.text),
    look,
  );
}

/** The same search without its action: the tests before `-delete` or `-exec` decide what is reached. */
export function previewFind(command: SimpleCommand, look: Look): Promise<Preview | null> {
  const { roots } = findParts(command);
  const texts = command.args.map((word) => word.text);
  const action = texts.findIndex((text) =>
    /^-(?:delete|exec|execdir|ok|okdir|fprint\w*|fls|print\w*|quit)$/.test(text),
  );
  const first = texts.findIndex((text) => /^[-(!]/.test(text));
  const tests = texts.slice(first < 0 ? texts.length : first, action < 0 ? undefined : action);
  if (command.args.some(isDynamic) || tests.includes('-o') || tests.includes('-or'))
    return Promise.resolve(null);
  return filesBelow(roots, look, tests);
}

/** `chmod -R`, `chown -R`: how many files and folders lie below. */
export async function previewChange(command: SimpleCommand, look: Look): Promise<Preview | null> {
  const words = operands(command).slice(1);
  if (words.length === 0 || words.some((word) => isDynamic(word) || hasGlob(word.text))) return null;
  const output = await look(['find', ...words.map((word) => plain(word.text)), '-print']);
  if (output === null) return null;
  const names = lines(output);
  return {
    text: withNames(counted(names.length, 'file or folder', 'files and folders'), names),
    files: names.length,
    names: names.slice(0, SHOWN_NAMES),
  };
}
