import { has, isVia, operands, type SimpleCommand } from '../shell/command.ts';
import { own } from '../shell/own.ts';
import { shown } from '../shell/value.ts';
import { names, type Rule } from './rule.ts';

/** Package managers with the verbs that remove software. */
const REMOVES: Readonly<Record<string, RegExp>> = {
  apt: /^(?:remove|purge|autoremove|autopurge)$/,
  'apt-get': /^(?:remove|purge|autoremove|autopurge)$/,
  aptitude: /^(?:remove|purge)$/,
  nala: /^(?:remove|purge|autoremove)$/,
  dnf: /^(?:remove|erase|autoremove)$/,
  yum: /^(?:remove|erase|autoremove)$/,
  microdnf: /^remove$/,
  zypper: /^(?:remove|rm)$/,
  apk: /^del$/,
  brew: /^(?:uninstall|remove|rm|autoremove)$/,
  snap: /^remove$/,
  flatpak: /^(?:uninstall|remove)$/,
  gem: /^(?:uninstall|cleanup)$/,
  conda: /^(?:remove|uninstall)$/,
  mamba: /^(?:remove|uninstall)$/,
  pip: /^uninstall$/,
  pip3: /^uninstall$/,
  pipx: /^(?:uninstall|uninstall-all)$/,
  cargo: /^uninstall$/,
  choco: /^uninstall$/,
  scoop: /^uninstall$/,
  winget: /^(?:uninstall|remove)$/,
  port: /^uninstall$/,
  pkg: /^(?:delete|remove|autoremove)$/,
  emerge: /^$/,
  'nix-env': /^$/,
  uv: /^$/,
  opkg: /^remove$/,
  'xbps-remove': /^/,
};
const GLOBAL_REMOVES = ['npm', 'pnpm', 'yarn', 'bun'];

function removesPackage(command: SimpleCommand): boolean {
  const verbs = operands(command, ['-n', '--name', '-o', '-c', '-p', '--prefix']).map((word) => word.text);
  const [first = '', second = ''] = verbs;
  const dry = command.args.some((word) =>
    /^(?:--dry-run|--simulate|--just-print|-s|--no-act)$/.test(word.text),
  );
  if (dry) return false;
  switch (command.program) {
    case 'npm':
    case 'pnpm':
    case 'bun':
      return /^(?:uninstall|remove|rm|un|unlink|r)$/.test(first) && has(command, 'g', 'global');
    case 'yarn':
      return first === 'global' && second === 'remove';
    case 'emerge':
      return has(command, 'C', 'unmerge', 'depclean');
    case 'nix-env':
      return has(command, 'e', 'uninstall');
    case 'uv':
      return (
        (first === 'pip' && second === 'uninstall') ||
        (first === 'tool' && second === 'uninstall') ||
        (first === 'python' && second === 'uninstall')
      );
    default: {
      const pattern = own(REMOVES, command.program);
      if (pattern === undefined) return false;
      if (command.program === 'conda' && first === 'env') return second === 'remove';
      return pattern.test(first);
    }
  }
}

export const PACKAGE_RULES: readonly Rule[] = [
  {
    key: 'package-remove',
    verdict: 'dangerous',
    description: 'removes installed software',
    programs: [...Object.keys(REMOVES), ...GLOBAL_REMOVES],
    match: removesPackage,
    subject: (command) => names(`${command.program} remove`, operands(command).slice(1).map(shown)),
    examples: {
      must: [
        'apt-get purge -y x',
        'sudo apt remove x',
        'pip uninstall -y x',
        'npm uninstall -g x',
        'brew uninstall x',
        'python3 -m pip uninstall -y x',
        'apk del x',
      ],
      mustNot: ['apt-get install x', 'npm uninstall x', 'pip install x', 'apt list', 'brew list'],
    },
  },
  {
    key: 'package-remove',
    verdict: 'dangerous',
    description: 'removes packages, or forces the package database',
    programs: ['dpkg', 'rpm', 'pacman', 'yay', 'paru'],
    match: (command) => {
      const texts = command.args.map((word) => word.text);
      if (command.program === 'dpkg')
        return texts.some((text) => /^-[a-zA-Z]*[rP]$|^--(?:remove|purge|force-|unpack-force)/.test(text));
      if (command.program === 'rpm')
        return (
          texts.some((text) => /^-[a-zA-Z]*e[a-zA-Z]*$|^--erase/.test(text)) &&
          !texts.some((text) => /^-q/.test(text))
        );
      return texts.some((text) => /^-R|^--remove/.test(text));
    },
    subject: (command) => names(`${command.program} remove`, operands(command).map(shown)),
    examples: {
      must: ['dpkg -P x', 'rpm -e x', 'pacman -Rs x', 'dpkg --force-all -i x.deb'],
      mustNot: ['dpkg -l', 'rpm -qa', 'pacman -Syu', 'dpkg -i x.deb'],
    },
  },
  {
    key: 'package-remove',
    verdict: 'dangerous',
    description: 'removes installed software through the Python module',
    programs: ['python', 'python3', 'py'],
    match: (command) => {
      const texts = command.args.map((word) => word.text);
      const at = texts.indexOf('-m');
      return at >= 0 && /^pip\d?$/.test(texts[at + 1] ?? '') && texts[at + 2] === 'uninstall';
    },
    examples: { must: ['python -m pip uninstall x'], mustNot: ['python -m pip install x'] },
  },
  {
    key: 'publish',
    verdict: 'dangerous',
    description: 'publishes or withdraws something for everyone to see',
    programs: [
      'npm',
      'pnpm',
      'yarn',
      'bun',
      'cargo',
      'gem',
      'twine',
      'gh',
      'semantic-release',
      'changeset',
      'uv',
      'jsr',
      'poetry',
      'vsce',
      'ovsx',
      'flit',
      'hatch',
      'pdm',
      'lerna',
      'deno',
      'dart',
      'flutter',
      'mvn',
      'gradle',
      'nuget',
      'pod',
      'helm',
      'bunx',
      'npx',
      'release-it',
      'np',
      'clawhub',
    ],
    match: (command) => {
      const [first = '', second = ''] = operands(command, [
        '-p',
        '--package',
        '-F',
        '--filter',
        '-C',
        '--dir',
        '-w',
        '--workspace',
        '--cwd',
        '--token',
      ]).map((word) => word.text);
      if (
        command.args.some(
          (word) =>
            /^(?:--dry-run|-n|-d|--help|--list)$/.test(word.text) &&
            !(word.text === '-d' && command.program !== 'semantic-release') &&
            !(word.text === '-n' && command.program === 'poetry'),
        )
      )
        return false;
      switch (command.program) {
        case 'twine':
          return first === 'upload';
        case 'gem':
        case 'nuget':
          return first === 'push' || first === 'yank';
        case 'pod':
          return first === 'trunk' && second === 'push';
        case 'helm':
          return false;
        case 'gh':
          return (
            (first === 'repo' && second === 'create' && has(command, '', 'public')) ||
            (first === 'repo' &&
              second === 'edit' &&
              command.args.some((word) => /visibility[= ]?public/.test(word.text)))
          );
        case 'semantic-release':
        case 'release-it':
        case 'np':
          return true;
        case 'npx':
        case 'bunx':
        case 'mvn':
        case 'gradle':
        case 'flutter':
          return (
            (command.program === 'flutter' && first === 'pub' && second === 'publish') ||
            (command.program === 'mvn' && first === 'deploy')
          );
        case 'npm':
        case 'pnpm':
        case 'yarn':
          return /^(?:publish|unpublish|deprecate)$/.test(first) || (first === 'npm' && second === 'publish');
        case 'dart':
          return first === 'pub' && second === 'publish';
        default:
          return /^(?:publish|unpublish|yank)$/.test(first);
      }
    },
    subject: (command) =>
      names(
        `${command.program} ${operands(command)[0]?.text ?? ''}`.trim(),
        isVia(command, 'ssh') ? [] : ['.'],
      ),
    examples: {
      must: [
        'npm publish',
        'cargo publish',
        'twine upload dist/*',
        'gh repo create x --public',
        'npx semantic-release',
        'uv publish',
      ],
      mustNot: [
        'npm publish --dry-run',
        'npm run publish',
        'docker push x',
        'gh repo create x --private',
        'dotnet publish -c Release',
        'semantic-release --dry-run',
      ],
    },
  },
];
