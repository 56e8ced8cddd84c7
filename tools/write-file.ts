import { z } from 'zod';
import { loadForEdit, placeForWriting, saveEdit, withFileLocks, writeSubject } from './files/edit.ts';
import { PathProblem } from './files/paths.ts';
import { hasLineNumbers } from './files/text.ts';
import { fileTracker } from './files/tracker.ts';
import { registry } from './registry.ts';
import { toolError, toolResult } from './results.ts';
import type { ToolContext } from './tool.ts';

const args = z.object({
  path: z
    .string({
      error: ({ input }) => (input === undefined ? 'missing. Give the file to write.' : 'not a string'),
    })
    .describe('Absolute, relative to the current folder of the terminal, or with ~'),
  content: z
    .string({
      error: ({ input }) =>
        input === undefined
          ? 'missing: the argument was dropped on the way, perhaps because it was too long. Send the call again with the content, or write the file in parts with patch.'
          : 'not a string. Send the text of the file; JSON must be sent as text.',
    })
    .describe('The whole new content of the file'),
});

async function writeFile({ path, content }: z.infer<typeof args>, context: ToolContext): Promise<string> {
  if (hasLineNumbers(content)) {
    const advice = 'Send the text as it should stand in the file.';
    return toolError(`The content still bears the line numbers of read_file (N|text). ${advice}`, { path });
  }
  try {
    const environment = await context.environment();
    const placed = await placeForWriting(environment, context, path);
    return await withFileLocks(environment, [placed], async () => {
      const before = await loadForEdit(environment, placed).catch((error: unknown) => {
        if (error instanceof PathProblem) return null; // Binary or huge: nothing of it is kept.
        throw error;
      });
      const saved = await saveEdit(environment, context, placed, before, content);
      fileTracker.clearPatchFailures(context.sessionId, placed.realPath);
      return toolResult({
        success: true,
        path: placed.path,
        bytes_written: Buffer.byteLength(content),
        created: placed.stat === null,
        ...(saved.warning === null ? {} : { _warning: saved.warning }),
        ...(saved.syntaxProblems.length > 0 ? { new_syntax_errors: saved.syntaxProblems } : {}),
      });
    });
  } catch (error) {
    if (error instanceof PathProblem) return toolError(error.message, { path });
    throw error;
  }
}

registry.register({
  name: 'write_file',
  toolset: 'file',
  emoji: '✍️',
  schema: {
    description:
      'Writes a whole file, replacing what was there and making its folders. Use this instead of echo or a heredoc. To change a part of a file use patch.',
    parameters: args,
  },
  handler: writeFile,
  subject: ({ path }, context) => writeSubject(context, [path]),
  idempotent: true,
  concurrency: 'path',
});
