import { posix } from 'node:path';
import { z } from 'zod';
import { errorMessage } from '../src/errors.ts';
import { redactSecrets } from '../src/redact.ts';
import type { Environment, FileStat } from './environments/environment.ts';
import { extractDocument, isDocument } from './files/documents.ts';
import { guardPlaceOf } from './files/edit.ts';
import { isGatewaySecret } from './files/guard.ts';
import { PathProblem, type PlacedPath, placePath, similarNames } from './files/paths.ts';
import { isBinary, numberLines, sliceLines } from './files/text.ts';
import { fileTracker } from './files/tracker.ts';
import { registry } from './registry.ts';
import { cutText, toolError, toolResult } from './results.ts';
import type { ToolContext } from './tool.ts';

const maxFileBytes = 10_000_000;
const maxResultChars = 100_000;
const images: ReadonlySet<string> = new Set([
  '.png',
  '.jpg',
  '.jpeg',
  '.gif',
  '.webp',
  '.bmp',
  '.ico',
  '.tiff',
  '.heic',
  '.avif',
]);

const args = z.object({
  path: z.string().describe('Absolute, relative to the current folder of the terminal, or with ~'),
  offset: z.int().min(1).default(1).describe('The first line to read, counted from 1'),
  limit: z
    .int()
    .min(1)
    .default(500)
    .transform((limit) => Math.min(limit, 2_000))
    .describe('How many lines, at most 2000'),
});
type ReadArgs = z.infer<typeof args>;

async function readFile(asked: ReadArgs, context: ToolContext): Promise<string> {
  try {
    const environment = await context.environment();
    const placed = await placePath(environment, context.sessionId, asked.path);
    const problem = await unreadable(environment, context, placed);
    if (problem !== null || !placed.stat) return problem ?? toolError(`${asked.path} does not exist.`);
    return await showRange(environment, context, placed.realPath, placed.stat, asked);
  } catch (error) {
    if (error instanceof PathProblem) return toolError(error.message, { path: asked.path });
    throw error;
  }
}

/** Why the path cannot be read as text, or null. */
async function unreadable(
  environment: Environment,
  context: ToolContext,
  { asked, path, realPath, stat }: PlacedPath,
): Promise<string | null> {
  const refuse = (message: string, extra = {}) => toolError(message, { path: asked, ...extra });
  if (!stat) {
    const similar = await similarNames(environment, path);
    return refuse(`${path} does not exist.`, similar.length > 0 ? { similar_files: similar } : {});
  }
  if (stat.kind === 'directory')
    return refuse(`${asked} is a folder. List it with search_files and target "files".`);
  if (stat.kind === 'other' || /^\/(?:dev|proc)\//.test(realPath)) {
    return refuse(`${asked} is a device, a pipe or a socket, which read_file does not read.`);
  }
  if (images.has(posix.extname(realPath).toLowerCase()))
    return refuse(`${asked} is an image. Look at it with vision_analyze.`);
  if (isGatewaySecret(guardPlaceOf(environment, context).gatewayHome, realPath)) {
    return refuse(`${asked} holds the gateway's secrets, which no tool reads out.`);
  }
  if (stat.bytes > maxFileBytes) {
    const advice = 'Find the place with search_files, or read a part with a command such as sed -n 1,200p.';
    return refuse(`${asked} has ${stat.bytes} bytes, too many for read_file. ${advice}`);
  }
  return null;
}

async function showRange(
  environment: Environment,
  context: ToolContext,
  realPath: string,
  stat: FileStat,
  { path, offset, limit }: ReadArgs,
): Promise<string> {
  const range = `${realPath}:${offset}:${limit}`;
  const repeats = fileTracker.countRepeat(context.sessionId, `read ${range}`);
  if (fileTracker.wasShown(context.sessionId, range, stat)) return unchanged(path, repeats);

  const raw = await environment.files.read(realPath, { maxBytes: maxFileBytes });
  const document = isDocument(realPath);
  if (!document && isBinary(raw)) {
    return toolError(`${path} is binary. Examine it with a command such as file, strings or xxd.`, { path });
  }
  const { lines, totalLines } = sliceLines(
    document ? await documentBytes(realPath, raw) : raw,
    offset,
    limit,
  );
  const { maxLineLength } = context.config.toolOutput;
  const content = redactSecrets(
    numberLines(
      lines.map((line) => clip(line, maxLineLength)),
      offset,
    ),
  );
  if (content.length > maxResultChars) {
    return toolError(
      `Lines ${offset} to ${offset + lines.length - 1} of ${path} have ${content.length} characters, more than ${maxResultChars}. Read fewer at a time with offset and limit, or use search_files.`,
      { path, total_lines: totalLines, file_size: stat.bytes },
    );
  }
  fileTracker.markRead(context.sessionId, realPath, stat);
  fileTracker.markShown(context.sessionId, range, stat);
  const next = offset + lines.length;
  const truncated = next <= totalLines && lines.length > 0;
  return toolResult({
    content,
    total_lines: totalLines,
    file_size: stat.bytes,
    truncated,
    ...(truncated ? { _hint: `Lines ${next} to ${totalLines} follow: use offset=${next}.` } : {}),
    ...(offset > totalLines && totalLines > 0 ? { _hint: `The file has only ${totalLines} lines.` } : {}),
  });
}

async function documentBytes(path: string, raw: Uint8Array): Promise<Uint8Array> {
  try {
    return Buffer.from(await extractDocument(path, raw), 'utf8');
  } catch (error) {
    throw new PathProblem(`The text of ${path} could not be extracted: ${errorMessage(error)}`);
  }
}

function unchanged(path: string, repeats: number): string {
  if (repeats >= 4) {
    const message = `BLOCKED: these lines of ${path} were asked for ${repeats} times in a row and have not changed. Use what you have read, or read other lines.`;
    return toolError(message, { path, already_read: repeats });
  }
  return toolResult({
    status: 'unchanged',
    path,
    message: 'This range has not changed since you read it: the earlier result still holds.',
    ...(repeats >= 3
      ? { _warning: `You have asked for this ${repeats} times in a row. The next time is refused.` }
      : {}),
  });
}

const clip = (line: string, max: number): string =>
  line.length > max ? `${cutText(line, max)}… [${line.length - max} more characters]` : line;

registry.register({
  name: 'read_file',
  toolset: 'file',
  emoji: '📖',
  schema: {
    description:
      'Reads a text file with line numbers, as N|text. Use this instead of cat, head or tail. Notebooks, docx and xlsx are read as text. Long files: page with offset and limit.',
    parameters: args,
  },
  handler: readFile,
  idempotent: true,
  concurrency: 'path',
});
