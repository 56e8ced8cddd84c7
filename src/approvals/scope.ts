import { DANGER_PATTERNS } from './patterns.ts';
import { globMatches } from './shell/glob.ts';
import { interpreterName, SHELLS } from './shell/wrappers.ts';
import {
  CATEGORIES,
  type Category,
  type DecisionScope,
  type Finding,
  type Grant,
  type Judgement,
} from './verdict.ts';

/**
 * What a `session` or `always` decision on these findings remembers: each finding's action on its targets where it
 * has any, else this exact text. Null when something is forbidden. Never a whole shell or interpreter.
 */
export function scopeOf(text: string, findings: readonly Finding[]): DecisionScope | null {
  if (findings.length === 0 || findings.some((finding) => finding.verdict === 'forbidden')) return null;
  const grants: Grant[] = [];
  for (const { category, subject } of findings) {
    if (
      subject === null ||
      subject.targets.length === 0 ||
      subject.targets.some((target) => !isTellable(target))
    ) {
      return { grants: [{ kind: 'exact', text }] };
    }
    for (const target of subject.targets) {
      const grant: Grant = {
        kind: 'category',
        category,
        action: subject.action,
        target,
        targetKind: subject.kind,
      };
      if (!grants.some((other) => formatAllowlistEntry(other) === formatAllowlistEntry(grant)))
        grants.push(grant);
    }
  }
  return { grants };
}

/** A target that can be written down and read back: nothing unknown in it, one line. */
function isTellable(target: string): boolean {
  return target !== '' && target !== '/' && !/[\uE000…\n]|\$\w/.test(target);
}

/** Whether what was decided covers everything that was found now. A forbidden command is never covered. */
export function scopeCovers(scope: DecisionScope, judgement: Judgement): boolean {
  if (judgement.verdict === 'forbidden') return false;
  if (scope.grants.some((grant) => grant.kind === 'exact' && grant.text === judgement.text)) return true;
  return (
    judgement.findings.length > 0 && judgement.findings.every((finding) => grantsCover(scope.grants, finding))
  );
}

function grantsCover(grants: readonly Grant[], { category, subject, verdict }: Finding): boolean {
  if (verdict === 'forbidden' || subject === null || subject.targets.length === 0) return false;
  return subject.targets.every((target) =>
    grants.some(
      (grant) =>
        grant.kind === 'category' &&
        grant.category === category &&
        grant.action === subject.action &&
        grant.targetKind === subject.kind &&
        targetCovers(grant, target),
    ),
  );
}

function targetCovers(grant: Extract<Grant, { kind: 'category' }>, target: string): boolean {
  if (target === grant.target) return true;
  if (grant.targetKind === 'name' || target.includes('\uE000')) return false;
  return target.startsWith(`${grant.target.replace(/\/+$/, '')}/`) && !target.split('/').includes('..');
}

/**
 * The words on the card after "Always would allow:", such as `deletion (delete) under ./build`. Paths below `cwd`
 * are told relative to it.
 */
export function scopeText(scope: DecisionScope, cwd?: string): string {
  return scope.grants.map((grant) => grantText(grant, cwd)).join('; ');
}

function relative(path: string, cwd: string | undefined): string {
  if (cwd === undefined || !path.startsWith(`${cwd}/`)) return path;
  return `./${path.slice(cwd.length + 1)}`;
}

function grantText(grant: Grant, cwd: string | undefined): string {
  if (grant.kind === 'exact') return 'exactly this command, nothing else';
  const what = CATEGORY_WORDS[grant.category];
  return grant.targetKind === 'path'
    ? `${what} (${grant.action}) under ${relative(grant.target, cwd)}`
    : `${what}: ${grant.action} ${grant.target}`;
}

const CATEGORY_WORDS: Readonly<Record<Category, string>> = {
  'wipe-root': 'wiping the system',
  'wipe-device': 'wiping a disk',
  'fork-bomb': 'a fork bomb',
  'kill-all': 'killing everything',
  power: 'powering off',
  'kill-gateway': 'stopping the gateway',
  'recursive-delete': 'deletion',
  'overwrite-data': 'overwriting',
  'system-config': 'system changes',
  'credential-file': 'credential files',
  'remote-code': 'remote code',
  'interpreter-code': 'inline code',
  'sql-destructive': 'destructive SQL',
  permissions: 'permission changes',
  privilege: 'privileges',
  service: 'services',
  'process-kill': 'killing processes',
  'git-destructive': 'git',
  'package-remove': 'package removal',
  'cloud-destructive': 'cloud resources',
  'history-log': 'history and logs',
  exfiltration: 'sending files',
  obfuscated: 'encoded code',
  'dynamic-command': 'unknown programs',
  unparsable: 'unparsable text',
  publish: 'publishing',
  'user-rule': 'your own rule',
};

/** One line of `command_allowlist`, understood. */
export type AllowlistEntry =
  | { readonly kind: 'grant'; readonly grant: Grant }
  /** A command text with `*` and `?`. */
  | { readonly kind: 'glob'; readonly pattern: string }
  /** A pattern's description, as earlier versions store it. */
  | { readonly kind: 'category'; readonly category: Category }
  | { readonly kind: 'refused'; readonly reason: string };

/** `recursive-delete(delete): /srv/app/build/**`, `git-destructive(push --force): origin`, `exact: TEXT`. */
export function formatAllowlistEntry(grant: Grant): string {
  if (grant.kind === 'exact') return `exact: ${grant.text}`;
  return `${grant.category}(${grant.action}): ${grant.target}${grant.targetKind === 'path' ? '/**' : ''}`;
}

/** Reads one entry: what `formatAllowlistEntry` writes, a pattern's description, or a command text or glob. */
export function parseAllowlistEntry(entry: string): AllowlistEntry {
  if (entry.startsWith('exact: '))
    return { kind: 'grant', grant: { kind: 'exact', text: entry.slice('exact: '.length) } };
  const stored = /^([a-z-]+)\(([^()\n]*)\): (.+)$/.exec(entry);
  const category = CATEGORIES.find((name) => name === stored?.[1]);
  if (category !== undefined && stored?.[2] !== undefined && stored[3] !== undefined) {
    const target = stored[3];
    const isPath = target.endsWith('/**');
    return {
      kind: 'grant',
      grant: {
        kind: 'category',
        category,
        action: stored[2],
        target: isPath ? target.slice(0, -3) : target,
        targetKind: isPath ? 'path' : 'name',
      },
    };
  }
  const described = DANGER_PATTERNS.find((pattern) => pattern.description === entry);
  if (described !== undefined) {
    if (described.forbidden === true)
      return { kind: 'refused', reason: 'nothing can allow what is forbidden' };
    if (described.allowable === false)
      return { kind: 'refused', reason: 'it would allow a whole shell or interpreter' };
    return { kind: 'category', category: described.category };
  }
  const [first = ''] = entry.trim().split(/\s+/);
  const program = first.slice(first.lastIndexOf('/') + 1);
  if (/[*?]/.test(entry) && entry.trim() !== '*' && isWide(program, entry)) {
    return { kind: 'refused', reason: 'it would allow a whole shell or interpreter' };
  }
  return { kind: 'glob', pattern: entry.trim() };
}

/** A shell, an interpreter or a raiser of privileges with a wildcard for what it runs. */
function isWide(program: string, entry: string): boolean {
  if (
    !SHELLS.has(program) &&
    interpreterName(program) === null &&
    !/^(?:sudo|doas|su|env|xargs|eval|exec|source|\.|ssh|npx|uvx)$/.test(program)
  )
    return false;
  return /^\S+(?:\s+-\S+)*\s+["']?[*?]/.test(entry.trim());
}

/** Operators and substitutions outside quotes: with these a text is more than one simple command. */
function isSimple(judgement: Judgement): boolean {
  return (
    judgement.commands.length === 1 &&
    !/[;&|`\n]|\$\(|<\(/.test(judgement.text.replace(/'[^']*'|"[^"$`\\]*"/g, ''))
  );
}

/**
 * Whether the stored entries cover the command. The floor is never covered. A glob or exact text covers simple
 * commands only; `*` covers all that is not forbidden.
 */
export function allowlistCovers(entries: readonly string[], judgement: Judgement): boolean {
  if (judgement.verdict !== 'dangerous') return judgement.verdict === 'safe';
  const parsed = entries.map(parseAllowlistEntry);
  const grants = parsed.flatMap((entry) => (entry.kind === 'grant' ? [entry.grant] : []));
  if (scopeCovers({ grants }, judgement)) return true;
  for (const entry of parsed) {
    if (entry.kind !== 'glob') continue;
    if (entry.pattern === '*' || entry.pattern === judgement.text.trim()) return true;
    if (isSimple(judgement) && globMatches(entry.pattern, judgement.text.trim())) return true;
  }
  const categories = new Set(parsed.flatMap((entry) => (entry.kind === 'category' ? [entry.category] : [])));
  // What is dangerous by its kind (a script, a guarded file) has no findings: no entry speaks of it.
  return (
    judgement.findings.length > 0 &&
    judgement.findings.every((finding) => categories.has(finding.category) || grantsCover(grants, finding))
  );
}
