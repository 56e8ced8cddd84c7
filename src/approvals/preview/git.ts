import { isDynamic, type SimpleCommand } from '../shell/command.ts';
import { counted, type Look, lines, type Preview, SHOWN_NAMES, withNames } from './exec.ts';

const GLOBAL_VALUED = ['-C', '--git-dir', '--work-tree'];

interface Call {
  /** `git` with the options that say where the repository is. */
  readonly git: readonly string[];
  readonly verb: string;
  readonly rest: readonly string[];
}

/** Only the options that name the repository are kept; `-c` could make git run something. */
function read(command: SimpleCommand): Call {
  const texts = command.args.map((word) => word.text);
  const git = ['git', '--no-pager', '--no-optional-locks', '-c', 'core.fsmonitor=false'];
  let at = 0;
  for (; texts[at]?.startsWith('-'); at += 1) {
    const text = texts[at] ?? '';
    if (GLOBAL_VALUED.includes(text)) {
      git.push(text, texts[at + 1] ?? '');
      at += 1;
    } else if (text === '-c') at += 1;
    else if (/^--(?:git-dir|work-tree)=/.test(text)) git.push(text);
  }
  return { git, verb: texts[at] ?? '', rest: texts.slice(at + 1) };
}

const isOption = (text: string) => text.startsWith('-');
/** A revision or branch as git allows it, never an option. */
const isRevision = (text: string) => /^[\w@{}~^./:+-]+$/.test(text) && !isOption(text);

export async function previewGit(command: SimpleCommand, look: Look): Promise<Preview | null> {
  if (command.args.some(isDynamic)) return null;
  const call = read(command);
  switch (call.verb) {
    case 'clean':
      return clean(call, look);
    case 'reset':
      return reset(call, look);
    case 'checkout':
    case 'restore':
    case 'switch':
      return changes(call, look);
    case 'branch':
      return branches(call, look);
    case 'push':
      return push(call, look);
    default:
      return null;
  }
}

async function clean({ git, rest }: Call, look: Look): Promise<Preview | null> {
  const options = rest
    .filter((text) => /^-[dfxX]+$|^--(?:force)$/.test(text))
    .map((text) => text.replace(/^-([dfxX]+)$/, (_all, letters: string) => `-${letters}`));
  const paths = rest.filter((text) => !isOption(text));
  const output = await look([...git, 'clean', '-n', ...options, '--', ...paths]);
  if (output === null) return null;
  const names = lines(output).map((line) => line.replace(/^Would (?:remove|skip repository) /, ''));
  return {
    text: withNames(counted(names.length, 'untracked file or folder', 'untracked files and folders'), names),
    files: names.length,
    names: names.slice(0, SHOWN_NAMES),
  };
}

/** Tracked files with changes that are nowhere committed. */
async function changedFiles(
  git: readonly string[],
  look: Look,
  paths: readonly string[] = [],
): Promise<string[] | null> {
  const output = await look([...git, 'status', '--porcelain', '--untracked-files=no', '--', ...paths]);
  return output === null ? null : lines(output).map((line) => line.slice(3));
}

async function commits(
  git: readonly string[],
  look: Look,
  range: readonly string[],
): Promise<string[] | null> {
  const output = await look([
    ...git,
    'log',
    '--oneline',
    '--no-decorate',
    '--no-show-signature',
    '-n',
    '1000',
    ...range,
    '--',
  ]);
  return output === null ? null : lines(output);
}

async function reset({ git, rest }: Call, look: Look): Promise<Preview | null> {
  const target = rest.find((text) => !isOption(text)) ?? 'HEAD';
  if (!isRevision(target)) return null;
  const [lost, changed] = await Promise.all([
    commits(git, look, [`${target}..HEAD`]),
    changedFiles(git, look),
  ]);
  if (lost === null || changed === null) return null;
  const parts = [
    withNames(
      counted(lost.length, 'commit'),
      lost.map((line) => line),
    ),
    withNames(counted(changed.length, 'changed file'), changed),
  ];
  return {
    text: `${parts[0]}; ${parts[1]}`,
    files: changed.length,
    names: [...lost, ...changed].slice(0, SHOWN_NAMES),
  };
}

async function changes({ git, rest }: Call, look: Look): Promise<Preview | null> {
  const dashes = rest.indexOf('--');
  const paths =
    dashes >= 0 ? rest.slice(dashes + 1) : rest.filter((text) => text === '.' || text.includes('/'));
  const changed = await changedFiles(git, look, paths);
  if (changed === null) return null;
  return {
    text: withNames(counted(changed.length, 'changed file'), changed),
    files: changed.length,
    names: changed.slice(0, SHOWN_NAMES),
  };
}

async function branches({ git, rest }: Call, look: Look): Promise<Preview | null> {
  const names = rest.filter((text) => !isOption(text));
  if (names.length === 0 || !names.every(isRevision)) return null;
  const lost = await commits(git, look, [
    ...names,
    '--not',
    ...names.map((name) => `--exclude=refs/heads/${name}`),
    '--all',
  ]);
  return lost === null
    ? null
    : {
        text: withNames(`${counted(lost.length, 'commit')} on no other branch`, lost),
        names: lost.slice(0, SHOWN_NAMES),
      };
}

async function push({ git, rest }: Call, look: Look): Promise<Preview | null> {
  const [remote = 'origin', refspec] = rest.filter((text) => !isOption(text));
  const [source = 'HEAD', given] = (refspec ?? '')
    .replace(/^\+/, '')
    .split(':')
    .map((text) => text || 'HEAD');
  const current = await look([...git, 'rev-parse', '--abbrev-ref', 'HEAD']);
  const branch = given ?? (source === 'HEAD' ? current?.trim() : source);
  if (branch === undefined || ![remote, branch, source].every(isRevision)) return null;
  const lost = await commits(git, look, [`${source}..refs/remotes/${remote}/${branch}`]);
  return lost === null
    ? null
    : {
        text: withNames(`${counted(lost.length, 'commit')} of ${remote}/${branch} as last fetched`, lost),
        names: lost.slice(0, SHOWN_NAMES),
      };
}
