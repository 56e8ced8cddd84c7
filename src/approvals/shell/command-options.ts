import { optionValues, type SimpleCommand } from './command.ts';
import { own } from './own.ts';
import type { Value } from './value.ts';

/**
 * Options of ordinary programs whose value is a command. Each pattern is tried on every argument joined with the
 * one after it by a space; its first group is the command, empty when nothing of it can be seen.
 */
const OPTIONS: Readonly<Record<string, readonly RegExp[]>> = {
  tar: [
    /^--checkpoint-action[= ]exec=(.*)$/s,
    /^--(?:to-command|use-compress-program|info-script|new-volume-script|rsh-command)[= ](.*)$/s,
    /^-[IF] ?(\S*sh(?:\s.*)?)$/s,
  ],
  bsdtar: [/^--use-compress-program[= ](.*)$/s],
  sort: [/^--compress-program[= ](.*)$/s],
  rg: [/^--pre[= ](.*)$/s],
  man: [/^(?:-P ?|--pager[= ])(.*)$/s],
  vim: [/^(?:-c ?|--cmd ?|\+)\s*:?\s*!(.*)$/s],
  vi: [/^(?:-c ?|\+)\s*:?\s*!(.*)$/s],
  nvim: [/^(?:-c ?|--cmd ?|\+)\s*:?\s*!(.*)$/s],
  view: [/^(?:-c ?|--cmd ?|\+)\s*:?\s*!(.*)$/s],
  less: [/^\+!(.*)$/s],
  more: [/^\+!(.*)$/s],
  zip: [/^(?:-TT ?|--unzip-command[= ])(.*)$/s],
  rsync: [/^(?:-\w*e ?|--rsh[= ])(.*)$/s],
  ssh: [/^-o ?(?:ProxyCommand|LocalCommand|KnownHostsCommand)[= ](.*)$/is],
  scp: [/^-o ?ProxyCommand[= ](.*)$/is, /^-S ?(\S+)$/],
  sftp: [/^-o ?ProxyCommand[= ](.*)$/is, /^-[SD] ?(\S+)$/],
  tcpdump: [/^-z ?(.*)$/s],
  split: [/^--filter[= ](.*)$/s],
  git: [/^--(?:upload-pack|receive-pack|extcmd|exec)[= ](.*)$/s],
};
const ONE_WORD: ReadonlySet<string> = new Set(['rsync', 'tcpdump']);
/** Settings of git that hold a command; a value of `!text` is a shell text in aliases and credential helpers. */
const GIT_SETTING =
  /^(?:alias\.[\w-]+=!|credential\.helper=!|(?:core\.(?:pager|editor|sshcommand|fsmonitor|gitproxy|askpass)|sequence\.editor|diff\.external|pager\.\w+|gpg\.program)=)(.*)$/is;

/** Variables whose value other programs run as a command. */
const COMMAND_VARIABLE =
  /^(?:PAGER|GIT_PAGER|MANPAGER|EDITOR|VISUAL|GIT_EDITOR|GIT_SEQUENCE_EDITOR|GIT_SSH_COMMAND|GIT_EXTERNAL_DIFF|GIT_ASKPASS|SSH_ASKPASS|SUDO_ASKPASS|BROWSER|LESSOPEN|LESSCLOSE|PROMPT_COMMAND)$/;

/** The commands that such variables hold, set before the program or by `env`. */
function variableCommands(command: SimpleCommand): Value[] {
  const found = command.assignments
    .filter(({ name }) => COMMAND_VARIABLE.test(name))
    .map(({ value }) => value);
  if (command.program !== 'env' && command.program !== 'export') return found;
  for (const word of command.args) {
    const equals = word.text.indexOf('=');
    if (equals > 0 && COMMAND_VARIABLE.test(word.text.slice(0, equals)))
      found.push({ ...word, text: word.text.slice(equals + 1) });
  }
  return found;
}

/** The commands that options of the program, or variables that it is given, hold. */
export function optionCommands(command: SimpleCommand): Value[] {
  const held = variableCommands(command).filter((value) => value.text !== '');
  const given = programOptions(command);
  return held.length === 0 ? given : [...held, ...given];
}

function programOptions(command: SimpleCommand): Value[] {
  const patterns = own(OPTIONS, command.program);
  if (patterns === undefined) return [];
  const found: Value[] = [];
  for (const [index, word] of command.args.entries()) {
    if (!/^[-+]/.test(word.text)) continue;
    const next = command.args[index + 1];
    for (const pattern of patterns) {
      const glued = pattern.exec(word.text)?.[1];
      const alone = glued === '' && next !== undefined && !word.text.includes('=') ? undefined : glued;
      const joined =
        alone ?? (next === undefined ? undefined : pattern.exec(`${word.text} ${next.text}`)?.[1]);
      if (joined === undefined || (ONE_WORD.has(command.program) && joined === '')) continue;
      found.push({
        ...word,
        text: joined.replace(/^(['"])(.*)\1$/s, '$2'),
        taint: word.taint | (alone === undefined ? (next?.taint ?? 0) : 0),
      });
      break;
    }
  }
  if (command.program !== 'git') return found;
  for (const word of optionValues(command, '-c')) {
    const text = GIT_SETTING.exec(word.text)?.[1];
    if (text !== undefined) found.push({ ...word, text });
  }
  return found;
}
