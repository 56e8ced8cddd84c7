import { access, constants, realpath } from 'node:fs/promises';
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

/** Never attached, whatever a model says: keys, tokens, the gateway's own state. */
const secretNames =
  /^(\.env(\..*)?|\.netrc|\.pgpass|\.npmrc|\.pypirc|id_(rsa|dsa|ecdsa|ed25519)|authorized_keys|credentials|.*\.(pem|key|p12|pfx|kdbx))$/i;
const secretFolders = /[/\\](\.ssh|\.gnupg|\.aws|\.kube|pairing)[/\\]/;

const mediaLine = /^[ \t]*MEDIA:[ \t]*["'`]?(?<path>\/[^"'`\n]+?)["'`]?[ \t]*$/gm;

/** Finds the `MEDIA:/path` lines of an answer. Paths are checked as they really are, symbolic links resolved. */
export async function takeMedia(text: string, home: string): Promise<OutgoingMedia> {
  const paths = [...text.matchAll(mediaLine)].map((match) => match.groups?.['path'] ?? '');
  if (paths.length === 0) return { text, files: [], missing: [] };
  const files: OutgoingFile[] = [];
  const missing: string[] = [];
  for (const path of new Set(paths)) {
    const real = await readable(path);
    if (real === null || isSecret(real, home)) missing.push(path);
    else
      files.push({ path: real, name: basename(path), as: kinds[extname(path).toLowerCase()] ?? 'document' });
  }
  return {
    text: text
      .replace(mediaLine, '')
      .replace(/\n{3,}/g, '\n\n')
      .trim(),
    files,
    missing,
  };
}

async function readable(path: string): Promise<string | null> {
  try {
    await access(path, constants.R_OK);
    return await realpath(path);
  } catch {
    // Gone, or not ours to read: the answer says so.
    return null;
  }
}

function isSecret(path: string, home: string): boolean {
  const inHome = path.startsWith(home + sep) && !path.startsWith(`${home}${sep}cache${sep}`);
  return inHome || secretNames.test(basename(path)) || secretFolders.test(path);
}
