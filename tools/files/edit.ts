import { redactSecrets } from '../../src/redact.ts';
import type { Environment } from '../environments/environment.ts';
import type { ToolContext } from '../tool.ts';
import { unifiedDiff } from './diff.ts';
import { type GuardPlace, guardWrite } from './guard.ts';
import { withLocks } from './locks.ts';
import { PathProblem, type PlacedPath, placePath } from './paths.ts';
import { newSyntaxProblems } from './syntax-check.ts';
import { decodeText, encodeText, type TextFile } from './text.ts';
import { fileTracker } from './tracker.ts';

const maxEditedBytes = 2_000_000;
const maxDiffChars = 20_000;

export function guardPlaceOf(environment: Environment, context: ToolContext): GuardPlace {
  return {
    userHome: environment.home,
    gatewayHome: environment.backend === 'local' ? context.home : null,
    safeRoots: context.config.writeSafeRoots,
  };
}

/** The place of a path that a tool may change. Throws `PathProblem` for one that is never writable. */
export async function placeForWriting(
  environment: Environment,
  context: ToolContext,
  asked: string,
): Promise<PlacedPath> {
  const placed = await placePath(environment, context.sessionId, asked);
  const guard = guardWrite(guardPlaceOf(environment, context), placed);
  if (guard.verdict === 'never') {
    throw new PathProblem(
      `${asked} may not be written: ${guard.reason}. No approval can change that; do not try another way, tell the user.`,
    );
  }
  if (placed.stat && placed.stat.kind !== 'file') {
    throw new PathProblem(
      `${asked} is a ${placed.stat.kind === 'directory' ? 'folder' : 'device or socket'}, not a file.`,
    );
  }
  return placed;
}

/** What a person must agree to before these paths are written, moved or deleted; null when nothing. */
export async function writeSubject(context: ToolContext, paths: readonly string[]) {
  const environment = await context.environment();
  const asked: { path: string; reason: string }[] = [];
  for (const path of paths) {
    try {
      const placed = await placePath(environment, context.sessionId, path);
      const guard = guardWrite(guardPlaceOf(environment, context), placed);
      if (guard.verdict === 'ask') asked.push({ path: placed.realPath, reason: guard.reason });
    } catch (error) {
      if (!(error instanceof PathProblem)) throw error; // The handler refuses it in its own words.
    }
  }
  const [first] = asked;
  if (!first) return null;
  return { kind: 'write', path: asked.map(({ path }) => path).join(', '), reason: first.reason } as const;
}

/** Runs an edit while nothing else edits the same files. */
export function withFileLocks<Value>(
  environment: Environment,
  places: readonly PlacedPath[],
  work: () => Promise<Value>,
): Promise<Value> {
  return withLocks(
    places.map(({ realPath }) => `${environment.backend}:${realPath}`),
    work,
  );
}

/** The file's text; null when it is not there. Throws `PathProblem` for what an edit would damage. */
export async function loadForEdit(environment: Environment, placed: PlacedPath): Promise<TextFile | null> {
  const stat = await environment.files.stat(placed.realPath);
  if (!stat) return null;
  if (stat.bytes > maxEditedBytes) {
    throw new PathProblem(
      `${placed.asked} has ${stat.bytes} bytes, too many for this tool. Edit it with a command.`,
    );
  }
  const file = decodeText(await environment.files.read(placed.realPath));
  if (!file) throw new PathProblem(`${placed.asked} is not UTF-8 text.`);
  return file;
}

export interface Saved {
  /** Unified, cut when very long. */
  diff: string;
  warning: string | null;
  syntaxProblems: readonly string[];
}

/** Writes the new text in the manner of the old one and tells what changed. Call it within `withFileLocks`. */
export async function saveEdit(
  environment: Environment,
  context: ToolContext,
  placed: PlacedPath,
  before: TextFile | null,
  text: string,
): Promise<Saved> {
  if (text.includes('[redacted]') && !before?.text.includes('[redacted]')) {
    throw new PathProblem(
      'The new text holds "[redacted]", the mark that stands for a secret in results: writing it would destroy the secret. Edit the lines around it with patch.',
    );
  }
  const { realPath, asked } = placed;
  const found = await environment.files.stat(realPath);
  const warning = fileTracker.staleness(context.sessionId, realPath, found);
  const manner = before ?? { lineEnd: '\n', byteOrderMark: false };
  await environment.files.write(realPath, encodeText({ ...manner, text }));
  const written = await environment.files.stat(realPath);
  if (written) fileTracker.markWritten(context.sessionId, realPath, written);
  const diff = redactSecrets(unifiedDiff(before?.text ?? '', text, before ? asked : '/dev/null', asked));
  return {
    diff:
      diff.length > maxDiffChars
        ? `${diff.slice(0, maxDiffChars)}\n… diff cut after ${maxDiffChars} characters`
        : diff,
    warning,
    syntaxProblems: await newSyntaxProblems(
      realPath,
      before?.text ?? null,
      text,
      environment,
      context.signal,
    ),
  };
}
