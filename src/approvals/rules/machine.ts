import { has, isVia, operands, pathOf, type SimpleCommand } from '../shell/command.ts';
import { isGatewayState } from '../shell/paths.ts';
import type { Rule } from './rule.ts';
import { writesOf } from './writes.ts';

const signals9 = (command: SimpleCommand) =>
  command.args.some((word) =>
    /^(?:-9|-KILL|-SIGKILL|-s9|-sKILL|--signal=(?:9|KILL|SIGKILL))$/i.test(word.text),
  ) ||
  command.args.some(
    (word, index) =>
      /^(?:-s|--signal|-n)$/.test(word.text) &&
      /^(?:9|(?:SIG)?KILL)$/i.test(command.args[index + 1]?.text ?? ''),
  );

export { signals9 };

/** `kill -1` alone prints help or hangs up nothing; `kill -9 -1` and `kill -- -1` reach every process. */
function reachesAll(command: SimpleCommand): boolean {
  const texts = command.args.map((word) => word.text);
  const at = texts.findIndex((text, index) => text === '-1' && (index > 0 || texts.length === 1));
  if (at < 0) return false;
  return (
    texts.length === 1 || !texts.slice(at + 1).some((text) => /^\d+$/.test(text)) || /^-/.test(texts[0] ?? '')
  );
}

const DEFAULT_NAMES = ['hermes-gateway', 'hermes', 'ai.hermes.gateway'];

/** The arguments of the gateway's own program, however it is started; null for any other program. */
function gatewayArgs({ program, words }: SimpleCommand): readonly string[] | null {
  const at = words.findIndex((word) => /(?:^|\/)hermes-gateway(?:\.js)?(?:@[\w.-]+)?$/.test(word.text));
  const isStarted = at === 0 || (at > 0 && /^(?:node|bun|deno|npx|tsx)$/.test(program));
  return isStarted ? words.slice(at + 1).map((word) => word.text) : null;
}

const CHANGES_PERMISSIONS: Readonly<Record<string, RegExp>> = {
  approvals: /^(?:allow|forget)$/,
  config: /^set$/,
  pair: /^(?:approve|revoke)$/,
  setup: /^/,
  'import-hermes': /^/,
};

function isGatewayName(command: SimpleCommand, text: string): boolean {
  const known = [...DEFAULT_NAMES, ...(command.context.gatewayNames ?? [])];
  const plain = text
    .replace(/\.(?:service|plist|timer|socket)$/, '')
    .replace(/^.*\//, '')
    .replace(/^[\^"']|[$"']$/g, '');
  return (
    known.some((name) => plain === name || plain === `[${name[0]}]${name.slice(1)}`) ||
    /\bhermes[-_.]gateway\b/.test(text) ||
    /\bhermes(?:_cli)?\b.*\bgateway\b/.test(text)
  );
}

const STOPS =
  /^(?:stop|restart|try-restart|reload-or-restart|kill|disable|mask|rm|delete|remove|bootout|unload|kickstart|force-stop|force-reload)$/;

export const MACHINE_RULES: readonly Rule[] = [
  {
    key: 'fork-bomb',
    verdict: 'forbidden',
    description: 'starts copies of itself without end',
    match: (command) => command.code.has('forks-endlessly'),
    examples: {
      must: [
        ':(){ :|:& };:',
        'b() { b | b & }; b',
        'while true; do sh $0 & done',
        "perl -e 'fork while fork'",
      ],
      mustNot: ['f() { g | h; }; f', 'while true; do date; sleep 1; done'],
    },
  },
  {
    key: 'kill-all',
    verdict: 'forbidden',
    description: 'signals every process of the machine or of root',
    programs: ['kill', 'killall5', 'pkill', 'killall', 'skill'],
    match: (command) => {
      if (command.program === 'killall5')
        return !command.args.some((word) => word.text === '-0' || word.text === '-V');
      if (command.program === 'kill') return reachesAll(command);
      const user =
        command.args.some(
          (word, index) =>
            /^(?:-u|-U|--euid|--uid|--user)$/.test(word.text) &&
            /^(?:root|0)$/.test(command.args[index + 1]?.text ?? ''),
        ) || command.args.some((word) => /^-[uU](?:root|0)$/.test(word.text));
      return signals9(command) && user;
    },
    examples: {
      must: ['kill -9 -1', 'kill -s KILL -1', 'killall5', 'pkill -9 -u root', 'kill -- -1'],
      mustNot: ['kill -1 1234', 'kill -9 1234', 'kill -l', 'pkill -u root'],
    },
  },
  {
    key: 'power',
    verdict: 'forbidden',
    description: 'powers off, restarts or suspends the machine',
    programs: [
      'shutdown',
      'reboot',
      'halt',
      'poweroff',
      'init',
      'telinit',
      'systemctl',
      'loginctl',
      'pm-suspend',
      'pm-hibernate',
      'kexec',
      'rundll32',
      'busctl',
    ],
    match: (command) => {
      const verbs = operands(command, ['-t', '-H', '-M', '--host']);
      const [first] = verbs;
      switch (command.program) {
        case 'systemctl':
        case 'loginctl':
          if (
            verbs.some((word) =>
              /^(?:poweroff|reboot|halt|kexec|suspend|hibernate|rescue|emergency)\.target$/.test(word.text),
            )
          )
            return true;
          return /^(?:poweroff|reboot|halt|kexec|suspend|hibernate|hybrid-sleep|suspend-then-hibernate|soft-reboot|isolate|rescue|emergency|default)$/.test(
            first?.text ?? '',
          );
        case 'init':
        case 'telinit':
          return /^[0-6sS]$/.test(first?.text ?? '') && !/^[2-5]$/.test(first?.text ?? '');
        case 'shutdown':
          return !command.args.some((word) => /^(?:-c|--help|--show)$/.test(word.text));
        case 'kexec':
          return has(command, 'e', 'exec');
        case 'rundll32':
        case 'busctl':
          return command.args.some((word) => /ShutDown|SetSuspendState|PowerOff|Reboot/i.test(word.text));
        default:
          return !command.args.some((word) => /^(?:--help|--version|-w|--wtmp-only|-h)$/.test(word.text));
      }
    },
    examples: {
      must: [
        'sudo reboot',
        'shutdown -h now',
        'init 0',
        'systemctl poweroff',
        'trap reboot EXIT',
        'systemctl isolate rescue.target',
        'systemctl start poweroff.target',
      ],
      mustNot: ['shutdown -c', 'echo reboot', 'systemctl status', 'man shutdown', 'git commit -m "reboot"'],
    },
  },
  {
    key: 'power',
    verdict: 'forbidden',
    description: 'triggers a kernel action that stops the machine',
    match: (command) => writesOf(command).some((write) => write.path === '/proc/sysrq-trigger'),
    examples: {
      must: ['echo b > /proc/sysrq-trigger', 'echo o | sudo tee /proc/sysrq-trigger'],
      mustNot: ['cat /proc/sysrq-trigger'],
    },
  },
  {
    key: 'kill-gateway',
    verdict: 'forbidden',
    description: 'stops, restarts or replaces the gateway that runs this agent',
    programs: [
      'systemctl',
      'service',
      'rc-service',
      'launchctl',
      'supervisorctl',
      'pm2',
      'docker',
      'podman',
      'sv',
      's6-svc',
      'hermes-gateway',
      'hermes',
      'pkill',
      'killall',
      'kill',
      'fuser',
      'tmux',
      'brew',
    ],
    match: (command) => {
      const texts = command.args.map((word) => word.text);
      switch (command.program) {
        case 'hermes-gateway':
          return texts.some((text) => /^(?:stop|restart|update|uninstall|kill)$/.test(text));
        case 'hermes':
          return (
            texts[0] === 'update' ||
            (texts[0] === 'gateway' && /^(?:stop|restart|uninstall)$/.test(texts[1] ?? ''))
          );
        case 'kill': {
          const pid = command.context.gatewayPid;
          const named = command.args.some((word) => /gateway\.pid|hermes/.test(word.raw));
          return (
            named ||
            (pid !== undefined &&
              !texts.includes('-0') &&
              texts.some((text) => text === String(pid) || text === `-${pid}`))
          );
        }
        case 'pkill':
        case 'killall':
          return !texts.includes('-0') && texts.some((text) => isGatewayName(command, text));
        default:
          return texts.some((text) => STOPS.test(text)) && texts.some((text) => isGatewayName(command, text));
      }
    },
    examples: {
      must: [
        'systemctl --user restart hermes-gateway',
        'pkill -f hermes-gateway',
        'hermes gateway stop',
        'kill $(pgrep -f hermes-gateway)',
        'pm2 delete hermes-gateway',
      ],
      mustNot: ['systemctl status hermes-gateway', 'pgrep hermes', 'hermes chat', 'hermes gateway status'],
    },
  },
  {
    key: 'kill-gateway',
    verdict: 'forbidden',
    description: 'changes what the gateway allows, through its own program',
    match: (command) => {
      const args = gatewayArgs(command) ?? [];
      const at = args.findIndex((text) =>
        /^(?:approvals|config|pair|setup|import-hermes|chat|start)$/.test(text),
      );
      return CHANGES_PERMISSIONS[args[at] ?? '']?.test(args[at + 1] ?? '') ?? false;
    },
    examples: {
      must: [
        "npx hermes-gateway approvals allow '*'",
        'node bin/hermes-gateway.js config set approvals.mode off',
        'hermes-gateway --config x pair approve telegram ABCD',
      ],
      mustNot: [
        'hermes-gateway approvals list',
        'hermes-gateway config get model',
        'echo hermes-gateway approvals allow x',
      ],
    },
  },
  {
    key: 'dynamic-command',
    verdict: 'dangerous',
    description: 'starts an agent of its own, under rules of its own',
    match: (command) => gatewayArgs(command)?.some((text) => /^(?:chat|start|--yolo)$/.test(text)) ?? false,
    examples: {
      must: ['HERMES_HOME=/tmp/x npx hermes-gateway chat -q hi', 'hermes-gateway start --yolo'],
      mustNot: ['hermes-gateway status', 'hermes-gateway doctor --json'],
    },
  },
  {
    key: 'kill-gateway',
    verdict: 'forbidden',
    description: "changes or removes the gateway's own state",
    match: (command) => {
      if (isVia(command, 'ssh', 'docker', 'podman', 'kubectl')) return false;
      const { context } = command;
      if (writesOf(command).some((write) => isGatewayState(write.path, context))) return true;
      return (
        /^(?:rm|mv|rmdir|shred|truncate|unlink|sqlite3|chmod|chown|rimraf)$/.test(command.program) &&
        operands(command).some(
          (word) =>
            isGatewayState(pathOf(command, word), context) &&
            (command.program !== 'sqlite3' ||
              !/^\s*(?:select|\.schema|\.tables|pragma)[^;\n=]*;?\s*$/i.test(
                operands(command)[1]?.text ?? '',
              )),
        )
      );
    },
    examples: {
      must: [
        'echo x >> ~/.hermes/config.yaml',
        'rm ~/.hermes/state.db',
        'echo x > ~/.hermes/gateway.token',
        'sqlite3 ~/.hermes/state.db "select 1; update approvals set state = 1 where id = 2"',
        'sed -i s/a/b/ ~/.hermes/.env',
        'rm -rf ~/.hermes',
      ],
      mustNot: [
        'cat ~/.hermes/config.yaml',
        'sqlite3 ~/.hermes/state.db "select count(*) from entries;"',
        'echo note > ~/.hermes/notes.md',
        'ls ~/.hermes',
      ],
    },
  },
];
