import { operands, optionValues, type SimpleCommand } from './command.ts';
import { own } from './own.ts';
import type { Value } from './value.ts';

/** `-c '!command'`, `+'%!filter'`, `-sc 'r !command'`. */
const VIM = [/^(?:-\w*c ?|--cmd ?|\+)\s*:?\s*(?:[%.$\d,]*|r(?:ead)?|w(?:rite)?)\s*!(.*)$/s];

/**
 * Options of ordinary programs whose value is a command. Each pattern is tried on every argument joined with the
 * one after it by a space; its first group is the command, empty when nothing of it can be seen.
 */
const OPTIONS: Readonly<Record<string, readonly RegExp[]>> = {
  tar: [
    /^--checkpoint-action[= ]exec=(.*)$/s,
    /^--(?:to-command|use-compress-program|info-script|new-volume-script|rsh-command)[= ](.*)$/s,
    /^-[IF] ?(.*)$/s,
  ],
  bsdtar: [/^--use-compress-program[= ](.*)$/s],
  sort: [/^--compress-program[= ](.*)$/s],
  rg: [/^--pre[= ](.*)$/s],
  man: [/^(?:-P ?|--pager[= ])(.*)$/s],
  vim: VIM,
  vi: VIM,
  nvim: VIM,
  view: VIM,
  ex: VIM,
  gvim: VIM,
  vimdiff: VIM,
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

const SED_ADDRESS = String.raw`(?:\d+|\$|/(?:[^/\\\n]|\\.)*/)`;
/** GNU sed: `e` runs what stands there, `e COMMAND` the command, the flag `e` of `s` the outcome. */
const SED_RUNS = new RegExp(
  String.raw`(?:^|[;{}\n])\s*(?:${SED_ADDRESS}(?:\s*,\s*${SED_ADDRESS})?\s*!?\s*)?(?:e(?:[ \t]+([^\n]+))?(?=\s*(?:$|[;}\n]))|s([^\w\s\\])(?:(?!\2)[^\\\n]|\\.)*\2(?:(?!\2)[^\\\n]|\\.)*\2[gpiImM\d]*e)`,
  'g',
);

function sedCommands(command: SimpleCommand): Value[] {
  const scripts = optionValues(command, '-e', '--expression');
  const [first] = operands(command, ['-e', '-f', '--expression', '--file', '-l']);
  const texts = scripts.length === 0 && first !== undefined ? [first] : scripts;
  return texts.flatMap((word) =>
    [...word.text.matchAll(SED_RUNS)].map((match) => ({ ...word, text: match[1] ?? '' })),
  );
}

function programOptions(command: SimpleCommand): Value[] {
  if (command.program === 'sed' || command.program === 'gsed') return sedCommands(command);
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
  for (const word of [...optionValues(command, '-c'), ...gitConfigured(command)]) {
    const text = GIT_SETTING.exec(word.text)?.[1];
    if (text !== undefined) found.push({ ...word, text });
  }
  return found;
}

/** `git config [set] KEY VALUE` as `KEY=VALUE`: git runs it later. */
function gitConfigured(command: SimpleCommand): Value[] {
  const [verb, ...rest] = operands(command, ['-c', '-C', '-f', '--file']);
  if (verb?.text !== 'config') return [];
  const [key, value] = rest[0]?.text === 'set' ? rest.slice(1) : rest;
  return key === undefined || value === undefined ? [] : [{ ...value, text: `${key.text}=${value.text}` }];
}
