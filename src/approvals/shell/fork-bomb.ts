import { children, type FunctionNode, type SyntaxNode } from './parse.ts';
import { SHELLS } from './wrappers.ts';

/** A function that calls itself twice in a pipe, or once in the background: every call makes more of itself. */
export function isForkBomb(node: FunctionNode): boolean {
  const name = node.name.value;
  return some(node.body, (inner) => {
    if (inner.type === 'Pipeline') return inner.commands.filter((command) => calls(command, name)).length > 1;
    if (inner.type === 'Statement' && inner.background === true) {
      return (
        calls(inner.command, name) ||
        some(inner.command, (part) => calls(part, name) && argumentCount(part) === 0)
      );
    }
    return false;
  });
}

/** An endless loop that starts itself or shells in the background. */
export function isEndlessSpawn(node: Extract<SyntaxNode, { type: 'While' | 'ArithmeticFor' }>): boolean {
  if (node.type === 'While' && !isEndless(node.clause)) return false;
  if (node.type === 'ArithmeticFor' && node.test !== undefined) return false;
  return some(node.body, (inner) => {
    if (inner.type !== 'Statement' || inner.background !== true) return false;
    return some(inner.command, (part) => {
      if (part.type !== 'Command') return false;
      const words = [
        part.name?.value ?? '',
        ...part.args.map((arg) => (arg.type === 'Word' ? arg.value : '')),
      ];
      return (
        words.some((word) => word === '$0' || word === '${0}') ||
        (SHELLS.has(words[0] ?? '') && words.length === 1)
      );
    });
  });
}

function isEndless(clause: SyntaxNode): boolean {
  return (
    some(
      clause,
      (part) => part.type === 'Command' && (part.name?.value === 'true' || part.name?.value === ':'),
    ) ||
    some(clause, (part) => part.type === 'ArithmeticCommand' && /^\s*1\s*$/.test(part.body)) ||
    some(clause, (part) => part.type === 'Command' && part.name?.value === '[' && part.args.length === 2)
  );
}

function calls(node: SyntaxNode, name: string): boolean {
  return node.type === 'Command' && node.name?.value === name;
}

function argumentCount(node: SyntaxNode): number {
  return node.type === 'Command' ? node.args.length : 0;
}

function some(node: SyntaxNode, test: (node: SyntaxNode) => boolean): boolean {
  const waiting = [node];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (test(next)) return true;
    waiting.push(...children(next));
  }
  return false;
}
