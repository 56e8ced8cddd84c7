import { isDynamic, operands, type SimpleCommand } from '../shell/command.ts';
import { counted, type Look, lines, type Preview, SHOWN_NAMES, withNames } from './exec.ts';

const CONTAINERS = ['ps', '-a', '--format', '{{.Names}} ({{.Status}})'];

/** What an engine's command would reach: the look-up for it, with the word for what it lists. */
function lookUp(verbs: readonly string[]): { argv: readonly string[]; noun: string } | null {
  const [first = '', second = ''] = verbs;
  const verb = /^(?:container|image|volume|network|system|builder)$/.test(first)
    ? `${first} ${second}`
    : first;
  switch (verb) {
    case 'container prune':
    case 'system prune':
      return {
        argv: [...CONTAINERS, '--filter', 'status=exited', '--filter', 'status=created'],
        noun: 'stopped container',
      };
    case 'image prune':
      return {
        argv: ['images', '--filter', 'dangling=true', '--format', '{{.ID}} {{.Size}}'],
        noun: 'unused image',
      };
    case 'volume prune':
      return { argv: ['volume', 'ls', '-q', '--filter', 'dangling=true'], noun: 'unused volume' };
    default:
      return null;
  }
}

export async function previewContainers(command: SimpleCommand, look: Look): Promise<Preview | null> {
  const words = operands(command, ['-t', '--time', '-s', '--signal', '--context', '-H']);
  if (words.some(isDynamic)) return null;
  const verbs = words.map((word) => word.text);
  const prune = lookUp(verbs);
  if (prune !== null) {
    const output = await look([command.program, ...prune.argv]);
    return output === null ? null : listed(lines(output), prune.noun);
  }
  const names = verbs.slice(verbs[0] === 'container' ? 2 : 1);
  if (verbs[0] === 'compose' || names.length === 0) return null;
  const output = await look([command.program, ...CONTAINERS]);
  if (output === null) return null;
  return listed(
    lines(output).filter((line) => names.some((name) => line.startsWith(`${name} (`))),
    'container',
  );
}

function listed(names: readonly string[], noun: string): Preview {
  return { text: withNames(counted(names.length, noun), names), names: names.slice(0, SHOWN_NAMES) };
}
