import { has, isDynamic, isListed, isVia, operands, pathOf, type SimpleCommand } from '../shell/command.ts';
import { isBelow, isPermissionPath, isSystemPath } from '../shell/paths.ts';
import type { Word } from '../shell/value.ts';
import { paths, type Rule } from './rule.ts';

/** What is changed: all operands but the mode or owner. A mode such as `-x` looks like an option and is none. */
function files(command: SimpleCommand): Word[] {
  const named = operands(command, ['--reference', '--from']);
  return modeOf(command).startsWith('-') ? named : named.slice(1);
}

/** `-R`, or a list that a search made: `find -exec chmod`, `chmod … $(find …)`. */
function sweeping(command: SimpleCommand): boolean {
  return (
    has(command, 'R', 'recursive') ||
    isVia(command, 'find', 'xargs', 'fd', 'parallel') ||
    files(command).some(isListed)
  );
}

/** The mode operand; `-w` and `-x,u+w` are modes too, not options. */
function modeOf(command: SimpleCommand): string {
  return (
    command.args.find((word) => /^[-+=]?[ugoa]*[-+=][rwxXstugo]|^[0-7]{3,5}$/.test(word.text))?.text ?? ''
  );
}

function opensToAll(mode: string): boolean {
  if (/^[0-7]{3,5}$/.test(mode)) return (Number.parseInt(mode.slice(-1), 8) & 2) !== 0;
  return mode.split(',').some((clause) => /^[ug]*[oa][ugoa]*[+=][rxXst]*w/.test(clause));
}

function setsId(mode: string): boolean {
  if (/^[0-7]{4,5}$/.test(mode)) return (Number.parseInt(mode.slice(-4, -3), 8) & 6) !== 0;
  return mode.split(',').some((clause) => /^[ugoa]*[+=][rwxXt]*s/.test(clause));
}

const outsideProject = (command: SimpleCommand) =>
  files(command).some((word) => {
    const path = pathOf(command, word);
    const { cwd } = command.context;
    return path.startsWith('/') && (cwd === undefined || !isBelow(path, cwd));
  });

const sweptOutside = (command: SimpleCommand) =>
  sweeping(command) &&
  (outsideProject(command) ||
    (files(command).some((word) => isListed(word) && word.text === '\uE000') && command.program !== 'chmod'));

export const PERMISSION_RULES: readonly Rule[] = [
  {
    key: 'permissions',
    verdict: 'dangerous',
    description: 'lets everyone write, or makes a program run as its owner',
    programs: ['chmod', 'gchmod', 'install'],
    match: (command) => {
      const mode =
        command.program === 'install'
          ? (/(?:^|\s)(?:-m\s*|--mode[= ])(\S+)/.exec(command.args.map((word) => word.text).join(' '))?.[1] ??
            '')
          : modeOf(command);
      return opensToAll(mode) || setsId(mode);
    },
    subject: (command) =>
      paths(
        `chmod ${modeOf(command)}`,
        files(command).map((word) => pathOf(command, word)),
      ),
    examples: {
      must: [
        'chmod 777 x',
        'chmod -R 0666 d',
        'chmod a+w x',
        'chmod o+rw x',
        'chmod u+s x',
        'chmod 4755 x',
        'chmod a=rwx d',
      ],
      mustNot: ['chmod +x s.sh', 'chmod 644 f', 'chmod u+w f', 'chmod 600 k', 'chmod o-w f'],
    },
  },
  {
    key: 'permissions',
    verdict: 'dangerous',
    description: 'changes permissions or owners of system files, or of a whole tree outside the project',
    programs: ['chmod', 'gchmod', 'chown', 'chgrp', 'gchown'],
    match: (command) =>
      files(command).some(
        (word) => isPermissionPath(pathOf(command, word)) || isSystemPath(pathOf(command, word)),
      ) ||
      sweptOutside(command) ||
      (sweeping(command) &&
        files(command).some((word) => isDynamic(word) && isListed(word) && command.program !== 'chmod')),
    subject: (command) =>
      paths(
        command.program,
        files(command).map((word) => pathOf(command, word)),
      ),
    examples: {
      must: ['chmod -R 755 /srv/www', 'chown -R me ~/x', 'chmod 755 /usr/local/bin/x', 'chgrp -R dev /opt/x'],
      mustNot: ['chown me f', 'chmod -R u+rw src', "find . -name '*.sh' -exec chmod +x {} +"],
    },
  },
  {
    key: 'permissions',
    verdict: 'dangerous',
    description: 'gives files to root',
    programs: ['chown', 'gchown'],
    match: (command) => /^(?:root|0)(?:[:.].*)?$/.test(operands(command)[0]?.text ?? ''),
    subject: (command) =>
      paths(
        'chown root',
        files(command).map((word) => pathOf(command, word)),
      ),
    examples: {
      must: ['chown root f', 'sudo chown root:root f'],
      mustNot: ['chown dev f', 'chown :root-readers f'],
    },
  },
  {
    key: 'permissions',
    verdict: 'dangerous',
    description: 'changes access lists, file attributes or capabilities',
    programs: ['setfacl', 'chattr', 'setcap', 'icacls', 'takeown', 'xattr', 'chflags'],
    match: (command) => {
      if (command.program === 'xattr') return has(command, 'c') && has(command, 'r');
      if (command.program === 'setfacl')
        return has(command, 'mMxXbk', 'modify', 'remove', 'remove-all', 'set', 'restore');
      if (command.program === 'icacls')
        return command.args.some((word) => /^\/(?:grant|deny|remove|setowner|reset)/i.test(word.text));
      return operands(command).length > 0 || command.args.some((word) => /^[-+=]i/.test(word.text));
    },
    examples: {
      must: ['setfacl -m u:a:rw f', 'chattr +i f', 'setcap cap_net_raw+ep x'],
      mustNot: ['getfacl f', 'lsattr f', 'getcap x'],
    },
  },
];
