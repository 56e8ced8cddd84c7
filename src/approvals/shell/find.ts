import { pathOf, type SimpleCommand } from './command.ts';
import type { Word } from './value.ts';

/** Tests that narrow what `find` lists by what it is, not just by kind or depth (POSIX and GNU find). */
const NARROWING =
  /^-(?:i?name|i?path|i?wholename|i?lname|i?regex|size|[amc]time|[amc]min|newer\w*|anewer|cnewer|user|group|uid|gid|nouser|nogroup|perm|empty|links|inum|samefile|fstype|executable|writable|used)$/;
const COMMAND_ACTION = /^-(?:exec|execdir|ok|okdir)$/;

export interface FindParts {
  /** Starting points, resolved; the working directory when none is named. */
  readonly roots: readonly string[];
  readonly filtered: boolean;
  readonly deletes: boolean;
  /** The commands of `-exec` and its like, with `{}` still in place. */
  readonly commands: readonly (readonly Word[])[];
}

export function findParts(command: SimpleCommand): FindParts {
  const { args } = command;
  let at = 0;
  while (/^-(?:[HLP]|O\d|D)$/.test(args[at]?.text ?? '')) at += args[at]?.text === '-D' ? 2 : 1;
  const roots: string[] = [];
  for (; at < args.length; at += 1) {
    const word = args[at];
    if (word === undefined || /^[-(!]/.test(word.text) || word.text === '\\(') break;
    roots.push(pathOf(command, word));
  }
  const rest = args.slice(at);
  const commands: Word[][] = [];
  for (let index = 0; index < rest.length; index += 1) {
    if (!COMMAND_ACTION.test(rest[index]?.text ?? '')) continue;
    const from = index + 1;
    let end = from;
    while (
      end < rest.length &&
      rest[end]?.text !== ';' &&
      !(rest[end]?.text === '+' && rest[end - 1]?.text === '{}')
    )
      end += 1;
    commands.push(rest.slice(from, end));
    index = end;
  }
  const outside = rest.filter((word) => word.text.startsWith('-'));
  return {
    roots: roots.length > 0 ? roots : [command.cwd ?? '.'],
    filtered: outside.some((word) => NARROWING.test(word.text)),
    deletes: outside.some((word) => word.text === '-delete'),
    commands,
  };
}
