import { has, operands, pathOf, type SimpleCommand } from '../shell/command.ts';
import { shown } from '../shell/value.ts';
import { names, type Rule } from './rule.ts';

const GLOBAL = ['-C', '-c', '--git-dir', '--work-tree', '--namespace', '-o', '--push-option', '-m', '-e'];

interface GitCall {
  readonly verb: string;
  readonly rest: readonly string[];
  readonly has: (short: string, ...long: readonly string[]) => boolean;
}

/** The verb and what follows it; options of git itself, before the verb, are left out. */
function git(command: SimpleCommand): GitCall {
  const texts = command.args.map((word) => word.text);
  let at = 0;
  while (texts[at]?.startsWith('-')) at += GLOBAL.includes(texts[at] ?? '') ? 2 : 1;
  const own = { ...command, args: command.args.slice(at + 1) };
  return {
    verb: texts[at] ?? '',
    rest: texts.slice(at + 1),
    has: (short, ...long) => has(own, short, ...long),
  };
}

function losesCommits({ verb, rest, has: given }: GitCall): boolean {
  switch (verb) {
    case 'reset':
      return given('', 'hard', 'merge');
    case 'branch':
      return (
        given('DM') ||
        (given('d', 'delete') && given('f', 'force')) ||
        (given('f', 'force') && !given('', 'format') && rest.some((text) => /^(?:-f|--force)$/.test(text)))
      );
    case 'stash':
      return rest[0] === 'clear' || rest[0] === 'drop';
    case 'filter-branch':
    case 'filter-repo':
      return true;
    case 'reflog':
      return rest[0] === 'expire' || rest[0] === 'delete';
    case 'update-ref':
      return given('d', 'delete');
    case 'gc':
      return rest.some((text) => /^--prune=(?:now|all)$/.test(text));
    case 'prune':
      return !given('n', 'dry-run');
    case 'replace':
      return given('d', 'delete');
    default:
      return false;
  }
}

function losesFiles({ verb, rest, has: given }: GitCall): boolean {
  switch (verb) {
    case 'clean':
      return given('f', 'force') && !rest.some((text) => /^(?:-[a-zA-Z]*n|--dry-run)/.test(text));
    case 'checkout': {
      if (given('f', 'force')) return true;
      const dashes = rest.indexOf('--');
      return dashes >= 0 ? dashes < rest.length - 1 : rest.some((text) => text === '.' || text === './');
    }
    case 'switch':
      return given('f', 'force', 'discard-changes');
    case 'restore':
      return (!given('S', 'staged') || given('W', 'worktree')) && rest.some((text) => !text.startsWith('-'));
    default:
      return false;
  }
}

function forcesPush({ verb, rest, has: given }: GitCall): boolean {
  if (verb !== 'push' || given('n', 'dry-run')) return false;
  if (
    rest.some((text) =>
      /^--(?:force|mirror|delete|prune)(?:-with-lease.*|-if-includes)?$|^--force-with-lease/.test(text),
    )
  )
    return true;
  return (
    rest.some((text) => /^-[a-zA-Z]*[fd][a-zA-Z]*$/.test(text) && !/^-[a-zA-Z]*o/.test(text)) ||
    rest
      .filter((text) => !text.startsWith('-'))
      .slice(1)
      .some((text) => /^\+|^:./.test(text))
  );
}

export const GIT_RULES: readonly Rule[] = [
  {
    key: 'git-destructive',
    verdict: 'dangerous',
    description: 'throws away commits, branches or stashes',
    programs: ['git'],
    match: (command) => losesCommits(git(command)),
    subject: (command) => {
      const { verb, rest } = git(command);
      return names(
        `${verb} ${rest.filter((text) => text.startsWith('-')).join(' ')}`.trim(),
        rest.filter((text) => !text.startsWith('-')),
      );
    },
    examples: {
      must: [
        'git reset --hard HEAD~1',
        'git branch -D x',
        'git stash drop',
        'git stash clear',
        'git reflog expire --all',
        'git update-ref -d refs/heads/x',
        'git -C repo reset --hard',
      ],
      mustNot: [
        'git reset HEAD f',
        'git branch -d x',
        'git stash pop',
        'git reset --soft HEAD~1',
        'git tag -d v1',
      ],
    },
  },
  {
    key: 'git-destructive',
    verdict: 'dangerous',
    description: 'throws away changes in the working tree',
    programs: ['git'],
    match: (command) => losesFiles(git(command)),
    subject: (command) => {
      const { verb, rest } = git(command);
      const targets = rest.filter((text) => !text.startsWith('-'));
      const where = targets.length > 0 ? targets : ['.'];
      return {
        action: verb,
        targets: where.map((text) => pathOf(command, { text, taint: 0, vars: [] })),
        kind: 'path',
      };
    },
    examples: {
      must: [
        'git clean -fd',
        'git checkout -- .',
        'git restore .',
        'git checkout -f main',
        'git checkout HEAD -- f',
      ],
      mustNot: [
        'git clean -n',
        'git checkout main',
        'git restore --staged f',
        'git checkout -b x',
        'git clean -fdn',
      ],
    },
  },
  {
    key: 'git-destructive',
    verdict: 'dangerous',
    description: 'overwrites or deletes what the remote has',
    programs: ['git'],
    match: (command) => forcesPush(git(command)),
    subject: (command) =>
      names('push --force', [git(command).rest.find((text) => !text.startsWith('-')) ?? 'origin']),
    examples: {
      must: [
        'git push --force',
        'git push -f origin x',
        'git push origin +main',
        'git push origin --delete x',
        'git push --mirror',
        'git push --force-with-lease',
        'git push origin :x',
      ],
      mustNot: [
        'git push',
        'git push -u origin x',
        'git push --dry-run --force',
        'git push --force-with-lease --dry-run',
        'git push --follow-tags',
      ],
    },
  },
  {
    key: 'git-destructive',
    verdict: 'dangerous',
    description: "deletes a repository's history",
    programs: ['rm', 'mv'],
    match: (command) =>
      command.program === 'rm' && operands(command).some((word) => /(?:^|\/)\.git\/?$/.test(shown(word))),
    examples: { must: ['rm -rf .git', 'rm -r x/.git'], mustNot: ['rm .gitignore', 'ls .git'] },
  },
];
