import type { Redirect } from './command.ts';
import type { HereDoc, Redirection } from './parse.ts';
import { resolvePath, type ShellState } from './state.ts';
import { type Flow, NO_FLOW, Taint } from './value.ts';
import { expandQuotedParts, expandToOne, type Substituter } from './words.ts';

const NETWORK_DEVICE = /^\/dev\/(?:tcp|udp)\//;

/** The redirections to and from files. Here-documents and here-strings are read by `stdinOf`, once. */
export function readRedirects(
  nodes: readonly Redirection[],
  state: ShellState,
  walker: Substituter,
): Redirect[] {
  return nodes.flatMap((node): Redirect[] => {
    if (node.type !== 'Redirect' || node.target === undefined) return [];
    const target = expandToOne(node.target, state, walker);
    const descriptor = node.descriptor?.type === 'FileDescriptor' ? node.descriptor.value : null;
    if (node.operator.endsWith('&') && /^\d+-?$|^-$/.test(target.text)) return [];
    if (NETWORK_DEVICE.test(target.text) && descriptor !== null) {
      state.files.set(descriptorName(descriptor), { text: null, taint: Taint.network, paths: [] });
    }
    return [{ operator: node.operator, descriptor, target, path: resolvePath(target.text, state.cwd) }];
  });
}

/** Open descriptors are kept beside the files of the line; no path starts like this. */
function descriptorName(descriptor: number | string): string {
  return `&${descriptor}`;
}

/** Whether standard output goes to this redirection instead of on. */
export function takesOutput({ operator, descriptor }: Redirect): boolean {
  return operator.includes('>') && (descriptor ?? 1) === 1;
}

/** What the command reads on standard input, or null when no redirection says so. */
export function stdinOf(
  nodes: readonly Redirection[],
  redirects: readonly Redirect[],
  state: ShellState,
  walker: Substituter,
): Flow | null {
  let found: Flow | null = null;
  for (const node of nodes) {
    if (node.type === 'HereDoc') found = hereDocument(node, state, walker);
    else if (node.type === 'HereString' && node.target !== undefined) {
      const value = expandToOne(node.target, state, walker);
      found = { text: `${value.text}\n`, taint: value.taint, paths: [] };
    } else if (node.type === 'Redirect' && node.operator === '<&' && node.target !== undefined) {
      found ??= state.files.get(descriptorName(node.target.value.replace(/-$/, ''))) ?? null;
    }
  }
  if (found !== null) return found;
  const from = redirects.find((redirect) => redirect.operator === '<' && (redirect.descriptor ?? 0) === 0);
  if (from === undefined) return null;
  if (from.target.stream !== undefined) return from.target.stream;
  return state.files.get(from.path) ?? { ...NO_FLOW, taint: Taint.file | from.target.taint };
}

function hereDocument(node: HereDoc, state: ShellState, walker: Substituter): Flow {
  if (node.delimiter?.quoted === true || node.body.parts === undefined) {
    return { text: node.body.text, taint: Taint.none, paths: [] };
  }
  const value = expandQuotedParts(node.body.parts, state, walker);
  return { text: value.text, taint: value.taint, paths: [] };
}

/** Remembers what the line itself writes into files, since the same line may run them. */
export function noteWrites(redirects: readonly Redirect[], flow: Flow, state: ShellState): void {
  for (const redirect of redirects) {
    if (!takesOutput(redirect)) continue;
    const before = redirect.operator.includes('>>') ? state.files.get(redirect.path) : undefined;
    state.files.set(redirect.path, before === undefined ? flow : append(before, flow));
  }
}

function append(before: Flow, flow: Flow): Flow {
  const text = before.text === null || flow.text === null ? null : before.text + flow.text;
  return { text, taint: before.taint | flow.taint, paths: [] };
}
