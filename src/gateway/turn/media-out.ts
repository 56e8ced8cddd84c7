import { access, constants, realpath, stat } from 'node:fs/promises';
import { basename, extname, sep } from 'node:path';
import type { MediaKind } from '../../../platforms/platform.ts';

/** A file that the answer asks to send. */
export interface OutgoingFile {
  path: string;
  name: string;
  as: MediaKind;
}

export interface OutgoingMedia {
  /** The answer without its `MEDIA:` lines. */
  text: string;
  files: readonly OutgoingFile[];
  missing: readonly string[];
}

const kinds: { readonly [extension: string]: MediaKind } = {
  '.png': 'photo',
  '.jpg': 'photo',
  '.jpeg': 'photo',
  '.webp': 'photo',
  '.gif': 'photo',
  '.mp4': 'video',
  '.mov': 'video',
  '.webm': 'video',
  '.mp3': 'audio',
  '.m4a': 'audio',
  '.wav': 'audio',
  '.ogg': 'voice',
  '.opus': 'voice',
};

/** What is in these is no file: `/proc/self/environ` is every token of this process, `/dev/zero` has no end. */
const systemFolders = /^\/(proc|sys|dev)\//;

/** Never attached, whatever a model says: keys, tokens, the gateway's own state. */
const secretNames =
  /^(\.env(\..*)?|\.netrc|\.pgpass|\.git-credentials|\.npmrc|\.pypirc|id_(rsa|dsa|ecdsa|ed25519)|authorized_keys|credentials|.*\.(pem|key|p12|pfx|kdbx))$/i;
const secretFolders = /[/\\](\.ssh|\.gnupg|\.aws|\.kube|pairing)[/\\]/;

const mediaLine = /^[ \t]*MEDIA:[ \t]*["'`]?(?<path>\/[^"'`\n]+?)["'`]?[ \t]*$/;

/**
 * Finds the `MEDIA:/path` lines of an answer. Within a code block such a line is quoted text, perhaps a stranger's,
 * and stays as it is. Paths are checked as they really are, symbolic links resolved.
 */
export async function takeMedia(text: string, home: string): Promise<OutgoingMedia> {
  const paths = new Set<string>();
  const kept: string[] = [];
  for (const { line, isCode } of linesOf(text)) {
    const path = isCode ? undefined : mediaLine.exec(line)?.groups?.['path'];
    if (path === undefined) kept.push(line);
    else paths.add(path);
  }
  if (paths.size === 0) return { text, files: [], missing: [] };
  const files: OutgoingFile[] = [];
  const missing: string[] = [];
  // A home that is not there holds nothing.
  const realHome = await realpath(home).catch(() => home);
  for (const path of paths) {
    const real = await readable(path);
    if (real === null || isSecret(real, realHome)) missing.push(path);
    else
      files.push({ path: real, name: basename(path), as: kinds[extname(path).toLowerCase()] ?? 'document' });
  }
  const rest = kept
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
  return { text: rest, files, missing };
}

/** Lines, and whether each lies within a fenced code block. CommonMark 4.5. */
function linesOf(text: string): { line: string; isCode: boolean }[] {
  let fence: string | null = null;
  return text.split('\n').map((line) => {
    const mark = /^ {0,3}(?<mark>`{3,}|~{3,})/.exec(line)?.groups?.['mark'];
    const isCode = fence !== null || mark !== undefined;
    if (fence === null) fence = mark ?? null;
    else if (mark?.startsWith(fence) && line.trim() === mark) fence = null;
    return { line, isCode };
  });
}

async function readable(path: string): Promise<string | null> {
  try {
    await access(path, constants.R_OK);
    return (await stat(path)).isFile() ? await realpath(path) : null;
  } catch {
    // Gone, or not ours to read: the answer says so.
    return null;
  }
}

function isSecret(path: string, home: string): boolean {
  const inHome = path.startsWith(home + sep) && !path.startsWith(`${home}${sep}cache${sep}`);
  return inHome || systemFolders.test(path) || secretNames.test(basename(path)) || secretFolders.test(path);
}
