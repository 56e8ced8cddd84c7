import { posix } from 'node:path';
import { redactSecrets } from '../../src/redact.ts';
import type { Environment } from '../environments/environment.ts';
import type { ToolContext } from '../tool.ts';
import { unifiedDiff } from './diff.ts';
import { loadForEdit, placeForWriting, type Saved, saveEdit, withFileLocks } from './edit.ts';
import type { PlacedPath } from './paths.ts';
import type { TextFile } from './text.ts';
import { applyHunks, type FileChange, PatchProblem } from './v4a.ts';

export interface AppliedPatch {
  files_modified: string[];
  files_created: string[];
  files_deleted: string[];
  saved: Saved[];
}

/** A change that was checked against the files as they are and only has to be written. */
interface PlannedChange {
  change: FileChange;
  place: PlacedPath;
  before: TextFile | null;
  /** Null: the file goes. */
  after: string | null;
  target: PlacedPath;
}

/** Applies all changes or, when one does not fit, none. Throws `PatchProblem` or `PathProblem` before it writes. */
export async function applyPatch(
  environment: Environment,
  context: ToolContext,
  changes: readonly FileChange[],
): Promise<AppliedPatch> {
  const placed = await Promise.all(
    changes.map(async (change) => {
      const place = await placeForWriting(environment, context, change.path);
      const moveTo = 'moveTo' in change ? change.moveTo : null;
      return {
        change,
        place,
        target: moveTo === null ? place : await placeForWriting(environment, context, moveTo),
      };
    }),
  );
  const paths = placed.map(({ place }) => place.realPath);
  if (new Set(paths).size < paths.length)
    throw new PatchProblem('A file stands in the patch more than once. Join its hunks.');
  return withFileLocks(
    environment,
    placed.flatMap(({ place, target }) => [place, target]),
    async () => {
      const planned: PlannedChange[] = [];
      for (const each of placed) planned.push(await plan(environment, each));
      return write(environment, context, planned);
    },
  );
}

async function plan(
  environment: Environment,
  { change, place, target }: Omit<PlannedChange, 'before' | 'after'>,
): Promise<PlannedChange> {
  const before = await loadForEdit(environment, place);
  if (change.kind === 'add') {
    if (before) throw new PatchProblem(`${change.path} exists already. Use "*** Update File:".`);
    return { change, place, target, before, after: change.text };
  }
  if (!before) throw new PatchProblem(`${change.path} does not exist.`);
  if (target !== place && target.stat)
    throw new PatchProblem(`${target.asked} exists already: nothing is moved over it.`);
  const after =
    change.kind === 'delete'
      ? null
      : change.kind === 'move'
        ? before.text
        : applyHunks(change.path, before.text, change.hunks);
  return { change, place, target, before, after };
}

async function write(
  environment: Environment,
  context: ToolContext,
  planned: readonly PlannedChange[],
): Promise<AppliedPatch> {
  const applied: AppliedPatch = { files_modified: [], files_created: [], files_deleted: [], saved: [] };
  for (const { place, target, before, after } of planned) {
    if (after === null) {
      await environment.files.remove(place.realPath);
      applied.files_deleted.push(place.path);
      const diff = redactSecrets(unifiedDiff(before?.text ?? '', '', place.asked, '/dev/null'));
      applied.saved.push({ diff, warning: null, syntaxProblems: [] });
      continue;
    }
    if (target !== place) {
      await moveFile(environment, context, place.realPath, target.realPath);
      applied.files_deleted.push(place.path);
    }
    if (target === place || after !== before?.text) {
      applied.saved.push(await saveEdit(environment, context, target, before, after));
    }
    (before && target === place ? applied.files_modified : applied.files_created).push(target.path);
  }
  return applied;
}

async function moveFile(
  environment: Environment,
  context: ToolContext,
  from: string,
  to: string,
): Promise<void> {
  const made = await environment.run(['mkdir', '-p', posix.dirname(to)], {
    timeoutMs: 10_000,
    signal: context.signal,
  });
  if (made.exitCode !== 0)
    throw new PatchProblem(`The folder of ${to} could not be made: ${made.stderr.trim()}`);
  await environment.files.rename(from, to);
}
