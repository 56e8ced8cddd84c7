import { z } from 'zod';
import { applyPatch } from './files/apply-patch.ts';
import {
  loadForEdit,
  placeForWriting,
  type Saved,
  saveEdit,
  withFileLocks,
  writeSubject,
} from './files/edit.ts';
import { PathProblem } from './files/paths.ts';
import { replaceText } from './files/replace.ts';
import { fileTracker } from './files/tracker.ts';
import { type FileChange, PatchProblem, parsePatch } from './files/v4a.ts';
import { registry } from './registry.ts';
import { toolError, toolResult } from './results.ts';
import type { ToolContext } from './tool.ts';

const args = z.object({
  mode: z
    .enum(['replace', 'patch'])
    .default('replace')
    .describe('replace: one text in one file; patch: a V4A patch'),
  path: z.string().optional().describe('replace: the file'),
  old_string: z
    .string()
    .optional()
    .describe('replace: the text to find, with enough lines around it to be the only one'),
  new_string: z.string().optional().describe('replace: the text to put there; empty deletes'),
  replace_all: z.boolean().default(false).describe('replace: every place instead of the only one'),
  patch: z
    .string()
    .optional()
    .describe(
      'patch: *** Begin Patch, then for each file *** Update File: path (hunks: @@ anchor, lines with " ", "-" or "+"), *** Add File: path, *** Delete File: path or *** Move File: old -> new, then *** End Patch',
    ),
});
type PatchArgs = z.infer<typeof args>;

async function patch(asked: PatchArgs, context: ToolContext): Promise<string> {
  try {
    if (asked.mode === 'patch') return await patchFiles(asked, context);
    return await replaceInFile(asked, context);
  } catch (error) {
    if (error instanceof PathProblem || error instanceof PatchProblem) return toolError(error.message);
    throw error;
  }
}

async function replaceInFile(asked: PatchArgs, context: ToolContext): Promise<string> {
  const { path, old_string: oldText, new_string: newText, replace_all: all } = asked;
  if (!path) return toolError('path is missing. Give the file to edit.');
  if (oldText === undefined || newText === undefined)
    return toolError('Both old_string and new_string are needed.');
  if (oldText === '') return toolError('old_string is empty. Use write_file to make a file.');
  if (oldText === newText) return toolError('old_string and new_string are the same: nothing to do.');
  const environment = await context.environment();
  const placed = await placeForWriting(environment, context, path);
  return withFileLocks(environment, [placed], async () => {
    const before = await loadForEdit(environment, placed);
    if (!before) return toolError(`${path} does not exist. Use write_file to make it.`, { path });
    const replaced = replaceText(
      before.text,
      oldText.replaceAll('\r\n', '\n'),
      newText.replaceAll('\r\n', '\n'),
      all,
    );
    if (!replaced.ok) {
      const failures = fileTracker.countPatchFailure(context.sessionId, placed.realPath);
      return toolError(replaced.message, { path, _hint: hintFor(replaced.reason, failures) });
    }
    fileTracker.clearPatchFailures(context.sessionId, placed.realPath);
    const saved = await saveEdit(environment, context, placed, before, replaced.text);
    return toolResult({
      success: true,
      diff: saved.diff,
      files_modified: [placed.path],
      replacements: replaced.count,
      ...(replaced.strategy === 'exact' ? {} : { matched_by: replaced.strategy }),
      ...notesOf([saved]),
    });
  });
}

function hintFor(reason: 'not_found' | 'not_unique', failures: number): string {
  if (failures >= 3) {
    return `${failures} patches of this file failed in a row. Read it again with read_file before the next one, or write it whole with write_file.`;
  }
  return reason === 'not_found'
    ? 'Read the place again with read_file and copy the lines exactly, without the line numbers.'
    : 'More lines before or after make it unique.';
}

async function patchFiles(asked: PatchArgs, context: ToolContext): Promise<string> {
  if (!asked.patch) return toolError('patch is missing. In mode "patch" it holds the V4A text.');
  const applied = await applyPatch(await context.environment(), context, parsePatch(asked.patch));
  const { saved, ...files } = applied;
  return toolResult({
    success: true,
    diff: saved.map(({ diff }) => diff).join('\n'),
    ...files,
    ...notesOf(saved),
  });
}

function notesOf(saved: readonly Saved[]): Record<string, unknown> {
  const warnings = [...new Set(saved.flatMap(({ warning }) => warning ?? []))];
  const problems = saved.flatMap(({ syntaxProblems }) => syntaxProblems);
  return {
    ...(warnings.length > 0 ? { _warning: warnings.join(' ') } : {}),
    ...(problems.length > 0 ? { new_syntax_errors: problems } : {}),
  };
}

/** Every path that the call would write, move or delete. */
function pathsOf(asked: PatchArgs): string[] {
  if (asked.mode === 'replace') return asked.path ? [asked.path] : [];
  try {
    return parsePatch(asked.patch ?? '').flatMap(touched);
  } catch (error) {
    if (error instanceof PatchProblem) return []; // The handler says what is wrong and touches nothing.
    throw error;
  }
}

const touched = (change: FileChange): string[] =>
  'moveTo' in change && change.moveTo !== null ? [change.path, change.moveTo] : [change.path];

registry.register({
  name: 'patch',
  toolset: 'file',
  emoji: '🔧',
  schema: {
    description:
      'Edits files and returns the diff. Mode "replace" finds old_string (small differences in white space are forgiven) and puts new_string there. Mode "patch" applies a V4A patch to several files, all or none. Use this instead of sed or awk.',
    parameters: args,
  },
  handler: patch,
  subject: (asked, context) => writeSubject(context, pathsOf(asked)),
  concurrency: 'path',
  preview: (asked) => asked.path ?? pathsOf(asked).join(', '),
});
