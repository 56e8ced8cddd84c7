import type { Environment } from '../environments/environment.ts';

export type SearchMode = 'content' | 'files_only' | 'count' | 'names';

export interface SearchRequest {
  mode: SearchMode;
  /** A regular expression, or for `names` a glob. */
  pattern: string;
  /** Absolute; of a folder with a final `/.`, so that one that is left out elsewhere can be searched by name. */
  path: string;
  fileGlob: string | null;
}

export interface SearchProgram {
  argv(request: SearchRequest): string[];
  /** Standard output cut into hits. */
  parse(stdout: string, mode: SearchMode): SearchFinding[];
}

export interface SearchFinding {
  path: string;
  /** 0 where the mode has none. */
  line: number;
  /** The line's text, or the count of matching lines, or empty. */
  text: string;
}

const longestLine = 1_000;
/** Left out unless the search starts in one; ripgrep leaves out what .gitignore names, too. */
const skippedFolders = ['.git', 'node_modules', '.venv', '__pycache__', '.cache'];

const ripgrep: SearchProgram = {
  argv({ mode, pattern, path, fileGlob }) {
    const common = ['rg', '--no-config', '--color=never', '--hidden', '--sort=path', '--null'];
    const skipped = skippedFolders.map((name) => `--glob=!${name}`);
    if (mode === 'names') {
      return [...common, '--files', `--iglob=${anywhere(nameGlob(pattern))}`, ...skipped, '--', path];
    }
    const globs = [...(fileGlob === null ? [] : [`--glob=${anywhere(fileGlob)}`]), ...skipped];
    const shape = {
      content: ['--line-number', '--no-heading', `--max-columns=${longestLine}`, '--max-columns-preview'],
      files_only: ['--files-with-matches'],
      count: ['--count'],
    }[mode];
    return [...common, ...shape, '--with-filename', ...globs, '-e', pattern, '--', path];
  },
  parse(stdout, mode) {
    if (mode === 'names' || mode === 'files_only') return namesOf(stdout);
    return stdout.split('\n').flatMap((row) => {
      const [path, rest] = row.split('\0', 2);
      if (path === undefined || rest === undefined) return [];
      if (mode === 'count') return [{ path, line: 0, text: rest }];
      const found = /^(\d+):(.*)$/s.exec(rest);
      return found ? [{ path, line: Number(found[1]), text: found[2] ?? '' }] : [];
    });
  },
};

/** `find` and `grep` as GNU, BSD and busybox have them. */
const findAndGrep: SearchProgram = {
  argv({ mode, pattern, path, fileGlob }) {
    const prune = skippedFolders.flatMap((name, index) => [...(index > 0 ? ['-o'] : []), '-name', name]);
    const files = ['find', path, '-type', 'd', '(', ...prune, ')', '-prune', '-o', '-type', 'f'];
    if (mode === 'names') return [...files, ...globTest(nameGlob(pattern)), '-print0'];
    const flags = { content: '-nHIE', files_only: '-lIE', count: '-cHIE' }[mode];
    const globs = fileGlob === null ? [] : globTest(fileGlob);
    return [...files, ...globs, '-exec', 'grep', flags, '-e', portableRegex(pattern), '{}', '+'];
  },
  parse(stdout, mode) {
    if (mode === 'names') return namesOf(stdout);
    const rows = stdout.split('\n').filter(Boolean);
    if (mode === 'files_only') return rows.map((path) => ({ path, line: 0, text: '' }));
    const findings = rows.flatMap((row) => {
      const found = (mode === 'count' ? /^(.+)():(\d+)$/ : /^(.+?):(\d+):(.*)$/).exec(row);
      return found
        ? [{ path: found[1] ?? '', line: Number(found[2]), text: (found[3] ?? '').slice(0, longestLine) }]
        : [];
    });
    return mode === 'count' ? findings.filter(({ text }) => text !== '0') : findings;
  },
};

const namesOf = (stdout: string): SearchFinding[] =>
  stdout
    .split('\0')
    .filter(Boolean)
    .map((path) => ({ path, line: 0, text: '' }));

/** A plain word looks for names that hold it. */
const nameGlob = (pattern: string): string => (/[*?[{]/.test(pattern) ? pattern : `*${pattern}*`);

/** ripgrep anchors a glob with a slash at the folder that it was started in. */
const anywhere = (glob: string): string =>
  glob.includes('/') && !glob.startsWith('**/') ? `**/${glob.replace(/^\/+/, '')}` : glob;

function globTest(glob: string): string[] {
  const alternatives = expandBraces(glob).map((each) =>
    each.includes('/')
      ? ['-path', `*/${each.replace(/^\/+/, '').replaceAll(/\*\*\/?/g, '*')}`]
      : ['-iname', each],
  );
  return ['(', ...alternatives.flatMap((test, index) => (index > 0 ? ['-o', ...test] : test)), ')'];
}

/** `*.{ts,js}` as two globs: find knows no braces. */
function expandBraces(glob: string): string[] {
  const found = /^(.*?)\{([^{}]*)\}(.*)$/.exec(glob);
  if (!found) return [glob];
  const [, head = '', body = '', tail = ''] = found;
  return body.split(',').flatMap((part) => expandBraces(head + part + tail));
}

/** Perl's digit class and lazy groups are foreign to POSIX expressions. */
const portableRegex = (pattern: string): string =>
  pattern
    .replaceAll(/\[[^\]]*\]|\\d/g, (part) => (part === '\\d' ? '[0-9]' : part.replaceAll('\\d', '0-9')))
    .replaceAll('(?:', '(');

const known = new WeakMap<Environment, Promise<SearchProgram>>();

/** What the environment has, found out once. */
export function searchProgram(environment: Environment, signal: AbortSignal): Promise<SearchProgram> {
  const found = known.get(environment) ?? probe(environment, signal);
  known.set(environment, found);
  return found;
}

async function probe(environment: Environment, signal: AbortSignal): Promise<SearchProgram> {
  try {
    const { exitCode } = await environment.run(['rg', '--version'], { timeoutMs: 10_000, signal });
    return exitCode === 0 ? ripgrep : findAndGrep;
  } catch {
    known.delete(environment); // No such program, or no answer: asked again at the next search.
    return findAndGrep;
  }
}
