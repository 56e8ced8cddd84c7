import { has, isListed, isVia, operands, pathOf, type SimpleCommand } from '../shell/command.ts';
import { findParts } from '../shell/find.ts';
import {
  isCredentialPath,
  isDisk,
  isHarmlessSink,
  isInside,
  isRoutine,
  isSystemPath,
  isUnderHome,
} from '../shell/paths.ts';
import { shown, type Word } from '../shell/value.ts';
import { names, paths, type Rule } from './rule.ts';
import { isRecursive } from './wipe.ts';
import { type Write, writesOf } from './writes.ts';

const LISTERS = ['find', 'gfind', 'fd', 'fdfind', 'xargs', 'gxargs', 'parallel', 'bfs'];

function removed(command: SimpleCommand): string[] {
  return operands(command).map((word) => pathOf(command, word));
}

function isOutside(command: SimpleCommand, path: string): boolean {
  return !isInside(path, command.context, command.cwd);
}

function needsLeave(write: Write, command: SimpleCommand): boolean {
  const { path, kind } = write;
  if (
    !path.startsWith('/') ||
    isHarmlessSink(path) ||
    isDisk(path) ||
    isSystemPath(path) ||
    /^\/dev\/(?:tcp|udp)\//.test(path)
  )
    return false;
  if ((kind !== 'truncate' && kind !== 'append') || isListed(write.target)) return false;
  if (!isOutside(command, path) || isCredentialPath(path, command.context)) return false;
  const emptied = kind === 'truncate' && /^(?:|:|true|truncate)$/.test(command.program);
  return emptied || !isUnderHome(path, command.context);
}

/** Build outputs of the project, not those of another place that `cd` led to. */
function removesRoutine(command: SimpleCommand, word: Word): boolean {
  const path = pathOf(command, word);
  return isRoutine(word.text, path) && (path.startsWith('/var/lib/apt/lists') || !isOutside(command, path));
}

export const DELETE_RULES: readonly Rule[] = [
  {
    key: 'recursive-delete',
    verdict: 'dangerous',
    description: 'deletes directories with everything in them',
    programs: ['rm', 'grm', 'srm', 'rimraf'],
    match: (command) =>
      isRecursive(command) &&
      (operands(command).length > 0 || isVia(command, ...LISTERS) || has(command, 'f')),
    subject: (command) => paths('delete', removed(command)),
    routine: (command) => operands(command).every((word) => removesRoutine(command, word)),
    examples: {
      must: [
        'rm -rf build',
        'rm build -r',
        'rm --recursive x',
        '{rm,-rf,x}',
        "$'\\x72m' -rf x",
        'busybox rm -r x',
        'x=rm; $x -rf y',
        "trap 'rm -rf x' EXIT",
      ],
      mustNot: [
        'rm one.txt',
        'rm -f build.log',
        'docker run --rm alpine ls',
        'echo "rm -rf x"',
        'grep -r rm .',
      ],
    },
  },
  {
    key: 'recursive-delete',
    verdict: 'dangerous',
    description: 'deletes files outside the working directory, or ones that nobody has listed',
    programs: ['rm', 'grm', 'unlink', 'srm'],
    match: (command) =>
      isVia(command, ...LISTERS) ||
      operands(command).some(
        (word) =>
          isListed(word) || isOutside(command, pathOf(command, word)) || /^[~/][^ ]*[*?[]/.test(word.raw),
      ),
    subject: (command) => (isVia(command, ...LISTERS) ? null : paths('delete', removed(command))),
    routine: (command) =>
      !isVia(command, ...LISTERS) &&
      operands(command).length > 0 &&
      operands(command).every((word) => removesRoutine(command, word)),
    examples: {
      must: [
        'rm /opt/tool/old',
        'rm -f ~/.cache/x/*',
        'find . -exec rm {} +',
        'ls | xargs rm',
        'while read f; do rm "$f"; done < list',
        'rm $(find . -name x)',
      ],
      mustNot: ['rm /tmp/out.json', 'rm /home/dev/app/x', 'rm *.o', 'rm "$FILE"'],
    },
  },
  {
    key: 'recursive-delete',
    verdict: 'dangerous',
    description: 'deletes the files that a search finds',
    programs: ['find', 'gfind', 'bfs'],
    match: (command) => findParts(command).deletes,
    subject: (command) => paths('find -delete', findParts(command).roots),
    examples: {
      must: ["find . -name '*.pyc' -delete", 'find /data -delete'],
      mustNot: ['find . -name delete', 'find . -print'],
    },
  },
  {
    key: 'recursive-delete',
    verdict: 'dangerous',
    description: 'makes a copy exact by deleting what the source does not have',
    programs: ['rsync', 'rclone', 'robocopy'],
    match: (command) => {
      if (has(command, 'n', 'dry-run')) return false;
      if (command.program === 'rclone')
        return /^(?:purge|delete|sync|rmdirs|deletefile)$/.test(operands(command)[0]?.text ?? '');
      return command.args.some((word) => /^--del(?:ete)?(?:-|$)|^\/MIR$/i.test(word.text));
    },
    subject: (command) => paths('mirror', removed(command).slice(-1)),
    examples: {
      must: ['rsync -a --delete build/ /mnt/site', 'rclone purge remote:x'],
      mustNot: ['rsync -a build/ out/', 'rsync -n --delete a/ b/'],
    },
  },
  {
    key: 'recursive-delete',
    verdict: 'dangerous',
    description: 'removes directories up to the root of an absolute path',
    programs: ['rmdir'],
    match: (command) =>
      has(command, 'p', 'parents') && operands(command).some((word) => word.text.startsWith('/')),
    examples: { must: ['rmdir -p /srv/a/b'], mustNot: ['rmdir empty', 'rmdir -p a/b'] },
  },
  {
    key: 'recursive-delete',
    verdict: 'dangerous',
    description: 'deletes tracked directories from the working tree by force',
    programs: ['git'],
    match: (command) =>
      operands(command, ['-C', '-c'])[0]?.text === 'rm' &&
      has(command, 'r') &&
      has(command, 'f', 'force') &&
      !has(command, '', 'cached'),
    subject: (command) =>
      paths(
        'git rm',
        operands(command, ['-C', '-c'])
          .slice(1)
          .map((word) => pathOf(command, word)),
      ),
    examples: {
      must: ['git rm -rf old/', 'git rm -r -f old'],
      mustNot: ['git rm --cached f', 'git rm old.txt', 'git rm -r --cached -f x'],
    },
  },
  {
    key: 'overwrite-data',
    verdict: 'dangerous',
    description: 'shreds, truncates or formats files',
    programs: [
      'truncate',
      'shred',
      'wipe',
      'mkfs',
      'mke2fs',
      'mkswap',
      'mkdosfs',
      'mkntfs',
      'newfs',
      'mkfs.*',
    ],
    match: (command) =>
      command.program === 'truncate' ? has(command, 's', 'size') : operands(command).length > 0,
    subject: (command) => paths(command.program, removed(command)),
    examples: {
      must: ['truncate -s 0 app.log', 'shred -u key.txt', 'mkfs.ext4 disk.img'],
      mustNot: ['truncate --help', 'tldr shred'],
    },
  },
  {
    key: 'overwrite-data',
    verdict: 'dangerous',
    description: 'writes over files outside the working directory',
    match: (command) => writesOf(command).some((write) => needsLeave(write, command)),
    subject: (command) =>
      paths(
        'write',
        writesOf(command)
          .filter((write) => needsLeave(write, command))
          .map((write) => write.path),
      ),
    examples: {
      must: [
        'echo x > /opt/data/f',
        'dd if=a of=/srv/disk.img',
        ': > ~/.cache/x',
        'echo x >> /mnt/notes',
        'echo x | tee -a /opt/f',
      ],
      mustNot: [
        'echo x > out.txt',
        'make > /dev/null 2>&1',
        'echo x > /tmp/f',
        'dd if=a of=./img',
        'echo note > ~/notes.txt',
        'echo x > /dev/shm/f',
      ],
    },
  },
  {
    key: 'overwrite-data',
    verdict: 'dangerous',
    description: 'moves or copies files over system files',
    programs: ['mv', 'cp'],
    match: (command) =>
      (command.program === 'mv' || has(command, 'f', 'force')) &&
      writesOf(command).some((write) => isSystemPath(write.path)),
    subject: (command) => names(command.program, operands(command).map(shown).slice(-1)),
    examples: {
      must: ['mv tool /usr/local/bin/tool', 'cp -f hosts /etc/hosts'],
      mustNot: ['mv a b', 'cp -f a b', 'cp /etc/hosts .'],
    },
  },
];
