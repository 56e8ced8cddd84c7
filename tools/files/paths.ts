import { posix } from 'node:path';
import type { Environment, FileStat } from '../environments/environment.ts';

/** A path that a tool was given, placed in the session's environment. */
export interface PlacedPath {
  /** As the model wrote it, for messages. */
  readonly asked: string;
  /** Absolute. */
  readonly path: string;
  /** Where a write would land: symbolic links resolved, also those of the folders of a file that is yet to be made. */
  readonly realPath: string;
  readonly stat: FileStat | null;
}

/** A path cannot be used as it is; the message is for the model. */
export class PathProblem extends Error {}

/** Resolves a path against the session's live folder; `~` is the environment's home. */
export async function placePath(
  environment: Environment,
  sessionId: string,
  asked: string,
): Promise<PlacedPath> {
  if (asked.trim() === '') throw new PathProblem('The path is empty. Give the path of a file.');
  if (asked.includes('\0')) throw new PathProblem('A path cannot hold a NUL character.');
  const expanded = asked === '~' || asked.startsWith('~/') ? environment.home + asked.slice(1) : asked;
  const path = posix.resolve(environment.cwd(sessionId), expanded);
  const stat = await environment.files.stat(path);
  return { asked, path, stat, realPath: stat ? stat.realPath : await realPathOfNew(environment, path) };
}

async function realPathOfNew(environment: Environment, path: string): Promise<string> {
  const parent = posix.dirname(path);
  if (parent === path) return path;
  const found = await environment.files.stat(parent);
  if (!found) return posix.join(await realPathOfNew(environment, parent), posix.basename(path));
  if (found.kind !== 'directory')
    throw new PathProblem(`${parent} is not a folder, so nothing can be made below it.`);
  const siblings = await environment.files.list(parent);
  // Named in its folder and yet without a target: writing through it could land anywhere.
  if (siblings.some(({ name }) => name === posix.basename(path))) {
    throw new PathProblem(`${path} is a symbolic link to nothing. Remove it or write to its target.`);
  }
  return posix.join(found.realPath, posix.basename(path));
}

export function isWithin(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder.endsWith('/') ? folder : `${folder}/`);
}

/** Names in the file's folder that look like the one that is missing, best first, at most five. */
export async function similarNames(environment: Environment, path: string): Promise<string[]> {
  const folder = posix.dirname(path);
  const wanted = posix.basename(path).toLowerCase();
  const entries = await environment.files.list(folder).catch(() => []); // No such folder: nothing is similar.
  return entries
    .slice(0, 2_000)
    .map(({ name }) => ({ name, score: likeness(wanted, name.toLowerCase()) }))
    .filter(({ score }) => score >= 0.5)
    .sort((a, b) => b.score - a.score || a.name.localeCompare(b.name))
    .slice(0, 5)
    .map(({ name }) => posix.join(folder, name));
}

/** Shared pairs of neighbouring letters, 0 to 1 (Dice's coefficient). */
export function likeness(a: string, b: string): number {
  if (a === b) return 1;
  const left = pairs(a);
  const right = pairs(b);
  if (left.length === 0 || right.length === 0) return 0;
  const counts = new Map<string, number>();
  for (const pair of left) counts.set(pair, (counts.get(pair) ?? 0) + 1);
  let shared = 0;
  for (const pair of right) {
    const count = counts.get(pair) ?? 0;
    if (count > 0) shared += 1;
    counts.set(pair, count - 1);
  }
  return (2 * shared) / (left.length + right.length);
}

const pairs = (text: string): string[] =>
  Array.from({ length: Math.max(0, text.length - 1) }, (_, i) => text.slice(i, i + 2));
