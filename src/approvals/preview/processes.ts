import { isDynamic, type SimpleCommand } from '../shell/command.ts';
import { counted, type Look, lines, type Preview, SHOWN_NAMES, withNames } from './exec.ts';

const VALUED = /^-[guUGPst]$|^--(?:signal|group|parent|session|euid|uid|terminal|pgroup)$/;

/** `pkill` takes the options of `pgrep`, and a signal besides. */
function pgrepArguments(command: SimpleCommand): string[] {
  const texts = command.args.map((word) => word.text);
  const found: string[] = [];
  for (let at = 0; at < texts.length; at += 1) {
    const text = texts[at] ?? '';
    if (text === '-s' || text === '--signal') at += 1;
    else if (/^-(?:\d+|(?:SIG)?[A-Z]{3,}\d?)$|^--signal=|^-e$/.test(text)) continue;
    else if (VALUED.test(text)) {
      found.push(text, texts[at + 1] ?? '');
      at += 1;
    } else found.push(text);
  }
  return found;
}

export async function previewProcesses(command: SimpleCommand, look: Look): Promise<Preview | null> {
  if (command.args.some(isDynamic)) return null;
  const output = await look(lookUp(command));
  if (output === null) return null;
  const names = lines(output).map((line) => line.trim().replace(/^(\d+)\s+(.*)$/, '$2 ($1)'));
  return {
    text: withNames(counted(names.length, 'process', 'processes'), names),
    names: names.slice(0, SHOWN_NAMES),
  };
}

function lookUp(command: SimpleCommand): string[] {
  const texts = command.args.map((word) => word.text);
  if (command.program === 'pkill') return ['pgrep', '-l', ...pgrepArguments(command)];
  if (command.program === 'killall') {
    const named = texts.filter((text) => !text.startsWith('-'));
    return ['pgrep', '-l', '-x', named.map((name) => name.replace(/[^\w.-]/g, '.')).join('|')];
  }
  return ['ps', '-o', 'pid=,comm=', '-p', texts.filter((text) => /^\d+$/.test(text)).join(',')];
}
