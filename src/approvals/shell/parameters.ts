import { globMatches, hasGlob } from './glob.ts';
import type { ParameterExpansionPart, WordNode } from './parse.ts';
import { assign, lookUp, type ShellState } from './state.ts';
import { isKnown, known, UNKNOWN, type Value } from './value.ts';

type Expand = (word: WordNode) => Value;

/** Longer texts are not edited by pattern: the matching is quadratic. */
const MAX_EDITED = 256;
/** What a replacement could grow to. */
const MAX_REPLACED = 1_048_576;

/** The fields of `${name…}`. What depends on something unknown stays unknown, with its taint. */
export function applyOperation(
  part: ParameterExpansionPart,
  state: ShellState,
  expand: Expand,
): readonly Value[] {
  if (part.prefix === '#') return [known('1')];
  let fields = pick(lookUp(state, part.parameter), part, state);
  if (part.prefix === '!')
    fields = fields.flatMap((value) => (isKnown(value) ? lookUp(state, value.text) : [value]));
  const { operation } = part;
  if (operation === undefined) return fields;
  if (operation.type === 'Default') {
    const operand = expand(operation.operand);
    const unset = fields.length === 0 || fields.every((value) => value.text === '');
    const open = unset || fields.some((value) => !isKnown(value));
    if (operation.operator.endsWith('?')) return fields;
    if (operation.operator.endsWith('+')) return unset ? [] : [operand];
    if (operation.operator.endsWith('=') && open) assign(state, part.parameter, [operand]);
    return open ? [operand] : fields;
  }
  return fields.map((value) => {
    if (!isKnown(value)) return value;
    const text = edit(value.text, operation, expand);
    return text === null ? { ...value, text: UNKNOWN, vars: [part.parameter] } : { ...value, text };
  });
}

function pick(fields: readonly Value[], part: ParameterExpansionPart, state: ShellState): readonly Value[] {
  if (part.index === undefined)
    return state.vars.has(part.parameter) && fields.length > 1 ? fields.slice(0, 1) : fields;
  const index = part.index.text;
  if (index === '@' || index === '*' || !/^\d+$/.test(index)) return fields;
  const value = fields[Number(index)];
  return value === undefined ? fields : [value];
}

type Operation = NonNullable<ParameterExpansionPart['operation']>;

/** Null when the outcome is not worked out. */
function edit(
  text: string,
  operation: Exclude<Operation, { type: 'Default' }>,
  expand: Expand,
): string | null {
  switch (operation.type) {
    case 'Remove':
      return remove(text, operation.operator, expand(operation.operand).text);
    case 'Replace':
      return replace(
        text,
        operation.operator,
        expand(operation.pattern).text,
        expand(operation.replacement).text,
      );
    case 'Slice':
      return slice(text, expand(operation.offset).text, operation.length && expand(operation.length).text);
    case 'CaseModification':
      return changeCase(text, operation.operator);
    case 'Transform': {
      const kind = expand(operation.operand).text;
      if (kind === 'U') return text.toUpperCase();
      return kind === 'L' ? text.toLowerCase() : text;
    }
    default:
      return null;
  }
}

function slice(text: string, offsetText: string, lengthText: string | undefined): string | null {
  const offset = Number(offsetText.trim());
  const length = lengthText === undefined ? undefined : Number(lengthText.trim());
  if (!Number.isInteger(offset)) return null;
  const from = offset < 0 ? Math.max(0, text.length + offset) : offset;
  if (length === undefined) return text.slice(from);
  if (!Number.isInteger(length)) return null;
  return length < 0 ? text.slice(from, length) : text.slice(from, from + length);
}

function replace(text: string, operator: string, pattern: string, replacement: string): string | null {
  if (pattern === '*') return replacement;
  if (hasGlob(pattern) || pattern === '' || text.length * replacement.length > MAX_REPLACED) return null;
  if (operator === '//') return text.replaceAll(pattern, () => replacement);
  if (operator === '/#') return text.startsWith(pattern) ? replacement + text.slice(pattern.length) : text;
  if (operator === '/%') return text.endsWith(pattern) ? text.slice(0, -pattern.length) + replacement : text;
  return text.replace(pattern, () => replacement);
}

function changeCase(text: string, operator: string): string {
  if (operator === '^^') return text.toUpperCase();
  if (operator === ',,') return text.toLowerCase();
  const first = text.slice(0, 1);
  return (operator === '^' ? first.toUpperCase() : first.toLowerCase()) + text.slice(1);
}

/** `#`, `##`, `%`, `%%`: the shortest or the longest match at one end goes. */
function remove(text: string, operator: string, pattern: string): string | null {
  if (text.length > MAX_EDITED || pattern.length > MAX_EDITED) return null;
  const front = operator.startsWith('#');
  const lengths = Array.from({ length: text.length + 1 }, (_, index) => index);
  if (operator.length === 2) lengths.reverse();
  for (const length of lengths) {
    const piece = front ? text.slice(0, length) : text.slice(text.length - length);
    if (globMatches(pattern, piece)) return front ? text.slice(length) : text.slice(0, text.length - length);
  }
  return text;
}
