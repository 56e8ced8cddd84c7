import { has, isVia, operands, type SimpleCommand } from '../shell/command.ts';
import { unwrap } from '../shell/unwrap.ts';
import { shown } from '../shell/value.ts';
import { SHELLS } from '../shell/wrappers.ts';
import { names, type Rule } from './rule.ts';

const RAISERS = ['sudo', 'doas', 'su', 'pkexec', 'runuser', 'gosu', 'su-exec'];

/** The options of sudo itself, not those of the command that it runs. */
function ownOptions(command: SimpleCommand): string[] {
  const found: string[] = [];
  for (let index = 0; index < command.args.length; index += 1) {
    const text = command.args[index]?.text ?? '';
    if (text === '--' || !text.startsWith('-')) break;
    found.push(text);
    if (/^-[a-zA-Z]*[ugpCrtTUDhR]$/.test(text)) index += 1;
  }
  return found;
}

function raisesShell(command: SimpleCommand): boolean {
  const options = ownOptions(command);
  switch (command.program) {
    case 'su':
    case 'runuser':
      return (
        !command.args.some(
          (word) =>
            /^(?:-c|--command|--session-command|--help|--version)/.test(word.text) ||
            /^-[a-z]*c$/.test(word.text),
        ) && !(command.program === 'runuser' && has(command, 'u', 'user'))
      );
    case 'sudo':
    case 'doas':
      return (
        options.some((text) => /^-[a-zA-Z]*[SAsi]/.test(text) && !/^-[ugpCrtTUDhR]/.test(text)) ||
        options.some((text) => /^--(?:stdin|askpass|shell|login)$/.test(text))
      );
    default:
      return command.program === 'pkexec' && command.args.length === 0;
  }
}

/** A shell, with or without a script, that sudo starts directly. A shell's `-c` text is judged by what it does. */
function isRaisedShell(command: SimpleCommand): boolean {
  const outer = command.via.at(-1);
  if (outer === undefined || !RAISERS.includes(outer)) return false;
  if (command.program === 'su' && outer === 'sudo')
    return !command.args.some((word) => /^-[a-z]*c$|^--command/.test(word.text));
  return (
    SHELLS.has(command.program) &&
    !command.args.some((word) => /^-[a-z]*c[a-z]*$/.test(word.text)) &&
    !has(command, '', 'version', 'help')
  );
}

function raisedScript(command: SimpleCommand): boolean {
  const outer = command.via.at(-1);
  return (
    outer !== undefined &&
    /^(?:sudo|doas)$/.test(outer) &&
    /(?:^|\/)[\w.-]+\.(?:sh|bash|zsh)$/.test(command.words[0]?.text ?? '')
  );
}

const ACCOUNTS = [
  'useradd',
  'usermod',
  'userdel',
  'groupadd',
  'groupdel',
  'groupmod',
  'passwd',
  'chpasswd',
  'adduser',
  'deluser',
  'addgroup',
  'delgroup',
  'chsh',
  'gpasswd',
  'chage',
  'vipw',
  'vigr',
  'rmuser',
  'pw',
  'dscl',
  'sysadminctl',
  'newusers',
  'htpasswd',
  'chfn',
  'dseditgroup',
  'lchage',
  'realm',
  'samba-tool',
  'smbpasswd',
];

export const PRIVILEGE_RULES: readonly Rule[] = [
  {
    key: 'privilege',
    verdict: 'dangerous',
    description: 'opens a shell with the rights of another user, or reads a password for it',
    programs: ['sudo', 'doas', 'su', 'pkexec', 'runuser'],
    match: raisesShell,
    examples: {
      must: ['sudo -i', 'sudo -s', 'echo pw | sudo -S ls', 'su', 'su - bob', 'sudo -A ls'],
      mustNot: [
        'sudo -l',
        'sudo apt-get update',
        "su -c 'ls' bob",
        'sudo -u postgres psql -c "select 1"',
        'sudo -n true',
      ],
    },
  },
  {
    key: 'privilege',
    verdict: 'dangerous',
    description: 'runs a shell or a shell script with the rights of another user',
    match: (command) => isRaisedShell(command) || raisedScript(command),
    examples: {
      must: ['sudo bash', 'sudo su', 'sudo sh install.sh', 'sudo ./setup.sh', 'doas zsh'],
      mustNot: ["sudo bash -c 'ls'", 'bash install.sh', 'sudo make'],
    },
  },
  {
    key: 'privilege',
    verdict: 'dangerous',
    description: 'changes accounts, groups or passwords',
    programs: ACCOUNTS,
    match: (command) => {
      if (has(command, '', 'help', 'version')) return false;
      if (command.program === 'passwd' || command.program === 'chage')
        return !has(command, command.program === 'passwd' ? 'S' : 'l', 'status', 'list');
      if (command.program === 'dscl')
        return command.args.some((word) => /^-?(?:create|delete|append|passwd|change)$/.test(word.text));
      if (command.program === 'pw' || command.program === 'realm' || command.program === 'samba-tool')
        return /^(?:user|group)?(?:add|del|mod|join|leave)/.test(
          operands(command)
            .map((word) => word.text)
            .join(''),
        );
      if (command.program === 'htpasswd' || command.program === 'chfn') return false;
      return true;
    },
    subject: (command) => names(command.program, operands(command).map(shown).slice(-1)),
    examples: {
      must: ['useradd ci', 'sudo usermod -aG docker me', 'passwd root', 'adduser bob', 'chsh -s /bin/zsh'],
      mustNot: ['id', 'groups', 'passwd -S me', 'getent passwd'],
    },
  },
  {
    key: 'privilege',
    verdict: 'dangerous',
    description: 'turns off a firewall or a mandatory access control',
    programs: [
      'setenforce',
      'apparmor_parser',
      'aa-teardown',
      'aa-disable',
      'aa-complain',
      'iptables',
      'ip6tables',
      'nft',
      'ufw',
      'firewall-cmd',
      'systemctl',
      'service',
      'pfctl',
      'spctl',
      'netsh',
      'iptables-restore',
      'ebtables',
    ],
    match: (command) => {
      const texts = command.args.map((word) => word.text);
      switch (command.program) {
        case 'setenforce':
          return /^(?:0|permissive)$/i.test(texts[0] ?? '');
        case 'apparmor_parser':
          return has(command, 'R', 'remove');
        case 'iptables':
        case 'ip6tables':
        case 'ebtables':
          return (
            texts.some((text) => /^(?:-F|--flush|-X|-D|--delete|--delete-chain|-Z)$/.test(text)) ||
            (texts.some((text) => /^(?:-P|--policy)$/.test(text)) && texts.includes('ACCEPT'))
          );
        case 'nft':
          return /^(?:flush|delete|destroy)$/.test(operands(command)[0]?.text ?? '');
        case 'ufw':
          return operands(command).some((word) => /^(?:disable|reset)$/.test(word.text));
        case 'firewall-cmd':
          return texts.some(
            (text) =>
              /^--(?:panic-off|remove-|reload$|set-default-zone=trusted)/.test(text) && !/reload/.test(text),
          );
        case 'systemctl':
        case 'service':
          return (
            texts.some((text) => /^(?:stop|disable|mask)$/.test(text)) &&
            texts.some((text) =>
              /^(?:firewalld|ufw|nftables|iptables|apparmor|auditd|fail2ban|selinux\w*)(?:\.service)?$/.test(
                text,
              ),
            )
          );
        case 'pfctl':
          return has(command, 'dF');
        case 'spctl':
          return texts.some((text) => /disable/.test(text));
        case 'netsh':
          return /firewall.*off/i.test(texts.join(' '));
        default:
          return command.program !== 'iptables-restore' || texts.length === 0;
      }
    },
    examples: {
      must: [
        'setenforce 0',
        'iptables -F',
        'nft flush ruleset',
        'ufw disable',
        'systemctl disable firewalld',
      ],
      mustNot: ['iptables -L', 'ufw status', 'nft list ruleset'],
    },
  },
  {
    key: 'privilege',
    verdict: 'dangerous',
    description: 'edits a file with the rights of another user',
    programs: ['sudoedit', 'sudo'],
    match: (command) =>
      command.program === 'sudoedit' ||
      (ownOptions(command).some((text) => text === '-e' || text === '--edit') &&
        unwrap(command).length === 0 &&
        !isVia(command, 'ssh')),
    examples: {
      must: ['sudoedit notes.txt', 'sudo -e notes.txt'],
      mustNot: ['sudo -E env', 'vim notes.txt'],
    },
  },
];
