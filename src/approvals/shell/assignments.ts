import type { Assigned } from './command.ts';
import type { Assignment } from './parse.ts';
import { assign, type ShellState } from './state.ts';
import { known, type Value, type Word } from './value.ts';
import { expandToOne, expandWord, type Substituter } from './words.ts';

/**
 * The value of `NAME=value`, `NAME+=value` or `NAME=(…)`. A lasting one is kept for the rest of the line; one before
 * a program is only that program's.
 */
export function applyAssignment(
  node: Assignment,
  lasting: boolean,
  state: ShellState,
  walker: Substituter,
): Assigned[] {
  const fields = node.append === true ? appended(node, state, walker) : valuesOf(node, state, walker);
  if (lasting) assign(state, node.name, fields);
  return fields.slice(0, 1).map((value) => ({ name: node.name, value }));
}

function valuesOf(node: Assignment, state: ShellState, walker: Substituter): readonly Value[] {
  if (node.value.type === 'Word') return [expandToOne(node.value, state, walker)];
  return node.value.elements.flatMap((word) => expandWord(word, state, walker));
}

function appended(node: Assignment, state: ShellState, walker: Substituter): readonly Value[] {
  const values = valuesOf(node, state, walker);
  const before = state.vars.get(node.name)?.at(-1) ?? [];
  const [value] = values;
  const [first] = before;
  if (node.value.type !== 'Word' || value === undefined || first === undefined) return [...before, ...values];
  return [
    { text: first.text + value.text, taint: value.taint | first.taint, vars: [...first.vars, ...value.vars] },
  ];
}

/** `export A=b`, `alias x='rm -rf'`: a word to the program, an assignment to the shell. */
export function assignmentWord(node: Assignment, state: ShellState, walker: Substituter): Word {
  const [first] = applyAssignment(node, true, state, walker);
  const value = first?.value ?? known('');
  return {
    ...value,
    text: `${node.name}=${value.text}`,
    ...walker.place(node.pos, node.end),
    raw: node.text,
  };
}
