import { posix } from 'node:path';
import { z } from 'zod';
import { redactSecrets } from '../src/redact.ts';
import type { Environment } from './environments/environment.ts';
import { guardPlaceOf } from './files/edit.ts';
import { isCredentialFile, isGatewaySecret } from './files/guard.ts';
import { PathProblem, placePath } from './files/paths.ts';
import { type SearchFinding, type SearchRequest, searchProgram } from './files/search-programs.ts';
import { sliceLines } from './files/text.ts';
import { fileTracker } from './files/tracker.ts';
import { registry } from './registry.ts';
import { cutText, toolError, toolResult } from './results.ts';
import type { ToolContext } from './tool.ts';

const timeoutMs = 60_000;
const maxOutputBytes = 1_000_000;
const maxContextFileBytes = 5_000_000;
const maxLineChars = 500;
const unreadable = /permission denied|no such file/i;

/** Words of older models and of the shell. */
const targets: Readonly<Record<string, 'content' | 'files'>> = {
  content: 'content',
  grep: 'content',
  files: 'files',
  find: 'files',
};

const args = z.object({
  pattern: z.string().min(1).describe('content: a regular expression; files: a name or a glob such as *.ts'),
  target: z
    .enum(['content', 'files', 'grep', 'find'])
    .default('content')
    .transform((word) => targets[word] ?? 'content')
    .describe('content: lines in files; files: names of files'),
  path: z.string().default('.').describe('The folder or file to search'),
  file_glob: z.string().optional().describe('content: only files with such names, for example *.py'),
  limit: z
    .int()
    .min(1)
    .default(50)
    .transform((limit) => Math.min(limit, 500))
    .describe('How many hits'),
  offset: z.int().min(0).default(0).describe('How many hits to skip, for paging'),
  output_mode: z
    .enum(['content', 'files_only', 'count'])
    .default('content')
    .describe(
      'content: matching lines; files_only: names of files with a match; count: matching lines a file',
    ),
  context: z
    .int()
    .min(0)
    .default(0)
    .transform((lines) => Math.min(lines, 20))
    .describe('Lines to show around each hit'),
});
type SearchArgs = z.infer<typeof args>;

async function searchFiles(asked: SearchArgs, context: ToolContext): Promise<string> {
  const { pattern } = asked;
  const repeats = fileTracker.countRepeat(context.sessionId, `search ${JSON.stringify(asked)}`);
  if (repeats >= 4) {
    const message = `BLOCKED: the same search was made ${repeats} times in a row. Use its results, or change the pattern, the path or the offset.`;
    return toolError(message, { pattern, already_searched: repeats });
  }
  try {
    const environment = await context.environment();
    const { path: place, realPath: path, stat } = await placePath(environment, context.sessionId, asked.path);
    if (!stat) return toolError(`${place} does not exist.`, { pattern });
    const mode = asked.target === 'files' ? 'names' : asked.output_mode;
    const outcome = await run(environment, context, {
      mode,
      pattern,
      path: stat.kind === 'directory' ? `${path}/.` : path,
      fileGlob: asked.file_glob ?? null,
    });
    if ('problem' in outcome) return toolError(outcome.problem, { pattern });
    return await showPage(environment, asked, outcome, repeats);
  } catch (error) {
    if (error instanceof PathProblem) return toolError(error.message, { pattern });
    throw error;
  }
}

interface Found {
  findings: SearchFinding[];
  /** Hits in credential files, which are not shown. */
  omitted: number;
  /** The search gave more than is kept. */
  incomplete: boolean;
}

async function run(
  environment: Environment,
  context: ToolContext,
  request: SearchRequest,
): Promise<Found | { problem: string }> {
  const program = await searchProgram(environment, context.signal);
  const { exitCode, stdout, stderr } = await environment.run(program.argv(request), {
    timeoutMs,
    signal: context.signal,
    maxBytes: maxOutputBytes,
  });
  const all = program
    .parse(stdout, request.mode)
    .map((each) => ({ ...each, path: posix.normalize(each.path) }));
  // What could not be read spoils the rest only where nothing else was wrong: find says 1 for everything.
  const complaints = stderr.split('\n').filter((line) => line.trim() !== '' && !unreadable.test(line));
  if (exitCode !== 0 && all.length === 0 && complaints.length > 0) {
    return { problem: `The search failed: ${cutText(redactSecrets(complaints.join('\n')), 500)}` };
  }
  const { gatewayHome } = guardPlaceOf(environment, context);
  const isSecret = (path: string) => isCredentialFile(path) || isGatewaySecret(gatewayHome, path);
  const shown = request.mode === 'names' ? all : all.filter(({ path }) => !isSecret(path));
  const findings = shown.sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : a.line - b.line));
  const incomplete = Buffer.byteLength(stdout) >= maxOutputBytes * 0.95 || exitCode === 124;
  return { findings, omitted: all.length - shown.length, incomplete };
}

async function showPage(
  environment: Environment,
  { target, output_mode: mode, offset, limit, context }: SearchArgs,
  { findings, omitted, incomplete }: Found,
  repeats: number,
): Promise<string> {
  const page = findings.slice(offset, offset + limit);
  const next = offset + page.length;
  const truncated = next < findings.length;
  return toolResult({
    total_count: findings.length,
    ...(target === 'files' || mode === 'files_only' ? { files: page.map(({ path }) => path) } : {}),
    ...(target === 'content' && mode === 'content'
      ? { matches: await showMatches(environment, page, context) }
      : {}),
    ...(target === 'content' && mode === 'count'
      ? { counts: Object.fromEntries(page.map(({ path, text }) => [path, Number(text)])) }
      : {}),
    ...(truncated
      ? { truncated, _hint: `${findings.length - next} more: use offset=${next}, or narrow the search.` }
      : {}),
    ...(incomplete
      ? { incomplete, _note: 'There were more hits than could be kept: narrow the search.' }
      : {}),
    ...(omitted > 0 ? { _omitted: omitted, _omitted_reason: 'hits in files that hold credentials' } : {}),
    ...(repeats === 3
      ? { _warning: 'You have made this search 3 times in a row. The next time it is refused.' }
      : {}),
  });
}

async function showMatches(environment: Environment, page: readonly SearchFinding[], context: number) {
  const files = new Map<string, Uint8Array | null>();
  const matches = [];
  for (const { path, line, text } of page) {
    const match = { path, line, content: showLine(text) };
    if (context === 0) {
      matches.push(match);
      continue;
    }
    if (!files.has(path)) files.set(path, await readForContext(environment, path));
    const data = files.get(path);
    const around = (first: number, count: number) =>
      data && count > 0 ? sliceLines(data, first, count).lines.map(showLine) : [];
    const first = Math.max(1, line - context);
    matches.push({ ...match, before: around(first, line - first), after: around(line + 1, context) });
  }
  return matches;
}

const showLine = (text: string): string =>
  redactSecrets(text.length > maxLineChars ? `${cutText(text, maxLineChars)}…` : text);

async function readForContext(environment: Environment, path: string): Promise<Uint8Array | null> {
  const stat = await environment.files.stat(path);
  return stat && stat.bytes <= maxContextFileBytes ? environment.files.read(path) : null;
}

registry.register({
  name: 'search_files',
  toolset: 'file',
  emoji: '🔎',
  schema: {
    description:
      'Searches the lines of files by a regular expression, or files by name. Use this instead of grep, rg, find or ls. Results are sorted by path and can be paged.',
    parameters: args,
  },
  handler: searchFiles,
  idempotent: true,
  concurrency: 'parallel',
});
