import { has, operands, pathOf, type SimpleCommand } from '../shell/command.ts';
import type { Rule } from './rule.ts';
import { writesOf } from './writes.ts';

const HISTORY_FILE =
  /\/\.(?:bash|zsh|sh|ksh|fish|python|psql|mysql|node_repl|sqlite|lesshst|rediscli)_?history$|\/\.lesshst$|\/fish_history$/;
const isLog = (path: string) => /^\/var\/log(?:\/|$)/.test(path);

const HISTORY_OFF: readonly (readonly [RegExp, RegExp])[] = [
  [/^HIST(?:FILE)?SIZE$/, /^0$/],
  [/^(?:HISTFILE|LESSHISTFILE|MYSQL_HISTFILE|SAVEHIST)$/, /^(?:\/dev\/null|0|-|)$/],
  [/^HISTIGNORE$/, /^\*$/],
];

function turnsHistoryOff(command: SimpleCommand): boolean {
  const given = command.assignments.map(({ name, value }) => [name, value.text] as const);
  if (/^(?:export|declare|typeset|readonly|env)$/.test(command.program)) {
    for (const word of command.args) {
      const equals = word.text.indexOf('=');
      if (equals > 0) given.push([word.text.slice(0, equals), word.text.slice(equals + 1)]);
    }
  }
  return given.some(([name, value]) =>
    HISTORY_OFF.some(([names, values]) => names.test(name) && values.test(value)),
  );
}

const removes = (command: SimpleCommand) =>
  /^(?:rm|shred|truncate|unlink|mv|ln|srm|wipe)$/.test(command.program);

export const HISTORY_RULES: readonly Rule[] = [
  {
    key: 'history-log',
    verdict: 'dangerous',
    description: 'clears or turns off the command history',
    programs: ['history', 'unset', 'set', 'fc'],
    match: (command) => {
      const texts = command.args.map((word) => word.text);
      if (command.program === 'history')
        return has(command, 'cd', 'clear') || /^(?:clear|delete|clear-session)$/.test(texts[0] ?? '');
      if (command.program === 'set') return texts[0] === '+o' && texts[1] === 'history';
      if (command.program === 'fc') return has(command, 'p') && texts.includes('/dev/null');
      return (
        command.program === 'unset' &&
        texts.some((text) => /^(?:HISTFILE|HISTSIZE|HISTFILESIZE|SAVEHIST)$/.test(text))
      );
    },
    examples: {
      must: ['history -c', 'unset HISTFILE', 'set +o history'],
      mustNot: ['history', 'history 50', 'set -o history', 'unset FOO'],
    },
  },
  {
    key: 'history-log',
    verdict: 'dangerous',
    description: 'turns off the command history',
    match: turnsHistoryOff,
    examples: {
      must: ['export HISTSIZE=0', 'HISTFILE=/dev/null', 'export HISTFILE='],
      mustNot: ['export HISTSIZE=10000', 'echo $HISTFILE'],
    },
  },
  {
    key: 'history-log',
    verdict: 'dangerous',
    description: 'deletes or empties logs or history files',
    match: (command) => {
      const bad = (path: string) => HISTORY_FILE.test(path) || isLog(path);
      if (
        writesOf(command).some(
          (write) =>
            bad(write.path) &&
            (HISTORY_FILE.test(write.path) || write.kind === 'truncate' || write.kind === 'edit'),
        )
      )
        return true;
      return (
        removes(command) &&
        operands(command).some((word) => bad(pathOf(command, word)) || /^\/(?:var\/log)/.test(word.text))
      );
    },
    examples: {
      must: ['rm /var/log/syslog', '> ~/.bash_history', 'truncate -s 0 /var/log/x', 'shred ~/.zsh_history'],
      mustNot: ['cat /var/log/syslog', 'tail ~/.bash_history', 'rm app.log'],
    },
  },
  {
    key: 'history-log',
    verdict: 'dangerous',
    description: 'trims, rotates or turns off system logs',
    programs: ['journalctl', 'auditctl', 'logrotate', 'dmesg', 'wevtutil', 'log'],
    match: (command) => {
      const texts = command.args.map((word) => word.text);
      switch (command.program) {
        case 'journalctl':
          return texts.some((text) => /^--(?:vacuum|rotate)/.test(text));
        case 'auditctl':
          return (texts.includes('-e') && texts.includes('0')) || texts.includes('-D');
        case 'logrotate':
          return has(command, 'f', 'force');
        case 'dmesg':
          return (
            has(command, 'Cc', 'clear', 'read-clear') &&
            texts.some((text) => /^(?:-[a-zA-Z]*[Cc]|--(?:read-)?clear)$/.test(text))
          );
        case 'wevtutil':
          return /^(?:cl|clear-log)$/i.test(texts[0] ?? '');
        default:
          return texts[0] === 'erase';
      }
    },
    examples: {
      must: ['journalctl --vacuum-time=1s', 'auditctl -e 0', 'logrotate -f /etc/logrotate.conf'],
      mustNot: ['journalctl -u nginx', 'dmesg', 'auditctl -l'],
    },
  },
];
