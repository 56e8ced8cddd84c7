import { normalise } from './shell/normalise.ts';
import type { Category } from './verdict.ts';

export interface DangerPattern {
  readonly pattern: RegExp;
  readonly description: string;
  readonly category: Category;
  readonly forbidden?: true;
  /** False where the pattern names a whole way of running things: no stored entry may allow all of it. */
  readonly allowable?: false;
}

/** The start of a command: the beginning, after an operator, or after a wrapper. */
const AT =
  String.raw`(?:^|[;&|({\n` +
  '`' +
  String.raw`]|\b(?:sudo|doas|env|nohup|exec|then|do|else|time|xargs|nice)\s)\s{0,8}`;
const at = (rest: string, flags = 'i') => new RegExp(AT + rest, flags);

/**
 * The second opinion, for text that does not parse: regular expressions over the normalised text. Descriptions are
 * keys that stored allowlists of earlier versions use, so they don't change. All are linear.
 */
export const DANGER_PATTERNS: readonly DangerPattern[] = [
  {
    pattern: at(
      String.raw`rm\s+(?:-[\w-]+\s+){1,6}(?:"|')?(?:\/|~|\$HOME|\$\{HOME\})(?:\/?\*)?(?:"|')?(?:\s|$|[;&|)])`,
    ),
    description: 'recursive delete of root filesystem',
    category: 'wipe-root',
    forbidden: true,
  },
  {
    pattern: at(
      String.raw`rm\s+(?:-[\w-]+\s+){1,6}\/(?:bin|boot|dev|etc|home|lib\w*|opt|proc|root|run|sbin|srv|sys|usr|var)\/?\*?(?:\s|$|[;&|)])`,
    ),
    description: 'recursive delete of system directory',
    category: 'wipe-root',
    forbidden: true,
  },
  {
    pattern: at(String.raw`mkfs(?:\.\w+)?\s[^;&|\n]{0,200}\/dev\/(?:sd|hd|vd|xvd|nvme|mmcblk|disk)`),
    description: 'format filesystem (mkfs)',
    category: 'wipe-device',
    forbidden: true,
  },
  {
    pattern: /\bof=\/dev\/(?:sd|hd|vd|xvd|nvme|mmcblk|disk)/i,
    description: 'dd to raw block device',
    category: 'wipe-device',
    forbidden: true,
  },
  {
    pattern: />\s*\/dev\/(?:sd|hd|vd|xvd|nvme|mmcblk|disk)/i,
    description: 'redirect to raw block device',
    category: 'wipe-device',
    forbidden: true,
  },
  {
    pattern: /:\(\)\s*\{\s*:\s*\|\s*:\s*&\s*\}\s*;\s*:/,
    description: 'fork bomb',
    category: 'fork-bomb',
    forbidden: true,
  },
  {
    pattern: at(String.raw`kill\s+(?:-\w+\s+){1,3}-1(?:\s|$)`),
    description: 'kill all processes',
    category: 'kill-all',
    forbidden: true,
  },
  {
    pattern: at(
      String.raw`(?:shutdown|reboot|halt|poweroff)(?:\s+(?:-\w+|now|\+\d+|\d\d:\d\d))*\s*(?:$|[;&|)\n])`,
    ),
    description: 'system shutdown/reboot',
    category: 'power',
    forbidden: true,
  },
  {
    pattern: at(String.raw`(?:init|telinit)\s+[016]\b`),
    description: 'init 0/6 (shutdown/reboot)',
    category: 'power',
    forbidden: true,
  },
  {
    pattern: /\bsystemctl\s+(?:-\S+\s+){0,4}(?:poweroff|reboot|halt|kexec)\b/i,
    description: 'systemctl poweroff/reboot',
    category: 'power',
    forbidden: true,
  },
  {
    pattern: /\bhermes(?:-gateway|\s+gateway)\s+(?:stop|restart)\b/i,
    description: 'stop/restart hermes gateway (kills running agents)',
    category: 'kill-gateway',
    forbidden: true,
  },
  {
    pattern: /\brm\s+(?:-[^\s;&|]{1,40}\s+){0,6}\/(?!tmp\b|dev\/shm\b|var\/tmp\b)/i,
    description: 'delete in root path',
    category: 'recursive-delete',
  },
  {
    pattern: /\brm\s+[^;&|\n]{0,200}?-\w*[rR]/,
    description: 'recursive delete',
    category: 'recursive-delete',
  },
  {
    pattern: /\brm\s+[^;&|\n]{0,200}?--recursive\b/i,
    description: 'recursive delete (long flag)',
    category: 'recursive-delete',
  },
  {
    pattern: /\bxargs\s+[^;&|\n]{0,200}?\brm\b/i,
    description: 'xargs with rm',
    category: 'recursive-delete',
  },
  {
    pattern: /\bfind\b[^;&|\n]{0,400}?-exec(?:dir)?\s+(?:\/\S{0,40}\/)?rm\b/i,
    description: 'find -exec rm',
    category: 'recursive-delete',
  },
  {
    pattern: /\bfind\b[^;&|\n]{0,400}?-delete\b/i,
    description: 'find -delete',
    category: 'recursive-delete',
  },
  { pattern: /\bdd\s+[^;&|\n]{0,200}?\bof=/i, description: 'disk copy', category: 'overwrite-data' },
  { pattern: at('mkfs'), description: 'format filesystem', category: 'overwrite-data' },
  {
    pattern: />{1,2}\s*["']?\/(?:private\/)?etc\//i,
    description: 'overwrite system config',
    category: 'system-config',
  },
  {
    pattern: /\btee\b[^;&|\n]{0,100}?\s["']?\/(?:private\/)?etc\//i,
    description: 'overwrite system file via tee',
    category: 'system-config',
  },
  {
    pattern: /\b(?:cp|mv|install|ln)\b[^;&|\n]{0,200}?\s["']?\/(?:private\/)?etc\//i,
    description: 'copy/move file into /etc/',
    category: 'system-config',
  },
  {
    pattern: /\bsed\s+[^;&|\n]{0,200}?-\w*i[^;&|\n]{0,200}?\s\/(?:private\/)?etc\//i,
    description: 'in-place edit of system config',
    category: 'system-config',
  },
  {
    pattern:
      /(?:>{1,2}|\btee\b[^;&|\n]{0,60}?)\s*["']?(?:~|\$HOME|\/home\/[^/\s]{1,64})\/\.(?:ssh\/|bashrc|zshrc|profile|bash_profile|netrc|npmrc|pypirc)/i,
    description: 'overwrite shell rc or credential file',
    category: 'credential-file',
  },
  {
    pattern: />{1,2}\s*["']?(?:[\w./-]{0,200}\/)?\.env(?:\.\w+)?["']?(?:\s|$)/i,
    description: 'overwrite project env file',
    category: 'credential-file',
  },
  {
    pattern:
      /\b(?:curl|wget|fetch)\b[^;\n]{0,2000}?\|\s*(?:sudo\s+(?:-\S+\s+){0,4})?(?:env\s+)?(?:\/\S{0,40}\/)?(?:ba|z|k|da)?sh\b/i,
    description: 'pipe remote content to shell',
    category: 'remote-code',
    allowable: false,
  },
  {
    pattern: /\b(?:ba|z|k|da)?sh\s+<\s*\(\s*(?:curl|wget)\b/i,
    description: 'execute remote script via process substitution',
    category: 'remote-code',
    allowable: false,
  },
  {
    pattern: /\b(?:eval|source)\s+["']?(?:\$\(|`|<\()\s*(?:curl|wget)\b/i,
    description: 'execute remote script via eval',
    category: 'remote-code',
    allowable: false,
  },
  {
    pattern: /\b(?:ba|z|k|da)?sh\s+-i\s*[<>&]+\s*\/dev\/(?:tcp|udp)\//i,
    description: 'reverse shell',
    category: 'remote-code',
    allowable: false,
  },
  {
    pattern: /\b(?:base64|base32|xxd|openssl|rev|tr)\b[^;\n]{0,400}?\|\s*(?:sudo\s+)?(?:ba|z|k|da)?sh\b/i,
    description: 'decode and execute',
    category: 'obfuscated',
    allowable: false,
  },
  {
    pattern:
      /\b(?:python[\d.]*|perl|ruby|node|php)\s+(?:-\w+\s+){0,4}-[ecr]\s[^\n]{0,2000}?\b(?:rmtree|rm_rf|system|popen|unlink|kill)\b/i,
    description: 'script execution via -e/-c flag',
    category: 'interpreter-code',
    allowable: false,
  },
  {
    pattern: /\bdrop\s+(?:table|database|schema)\s+\w[^\n]{0,200};/i,
    description: 'SQL DROP',
    category: 'sql-destructive',
  },
  {
    pattern: /\bdelete\s+from\s+\w+\s*;/i,
    description: 'SQL DELETE without WHERE',
    category: 'sql-destructive',
  },
  { pattern: /\btruncate\s+table\s+\w/i, description: 'SQL TRUNCATE', category: 'sql-destructive' },
  {
    pattern: /\bchmod\s+(?:-\S+\s+){0,4}(?:0?[0-7]?[0-7]{2}[2367]\b|[ugo]*[ao][ugo]*[+=]\w*w)/i,
    description: 'world/other-writable permissions',
    category: 'permissions',
  },
  {
    pattern: /\bchown\s+(?:-\S+\s+){1,4}root\b/i,
    description: 'recursive chown to root',
    category: 'permissions',
  },
  {
    pattern: /\bsudo\s+(?:-\w*[SAsi]\b|su\b)/,
    description: 'sudo with privilege flag (stdin/askpass/shell/list)',
    category: 'privilege',
  },
  {
    pattern: /\bsystemctl\s+(?:-\S+\s+){0,4}(?:stop|restart|disable|mask)\b/i,
    description: 'stop/restart system service',
    category: 'service',
  },
  {
    pattern: /\bdocker\s+(?:compose\s+)?(?:stop|restart|kill|down)\b/i,
    description: 'docker container lifecycle',
    category: 'service',
  },
  { pattern: /\b(?:pkill|killall)\s+\S/i, description: 'kill processes by name', category: 'process-kill' },
  {
    pattern: /\bkill\s+-(?:9|KILL|SIGKILL)\b/i,
    description: 'force kill processes',
    category: 'process-kill',
  },
  {
    pattern: /\bgit\s+(?:-\S+\s+\S+\s+){0,4}reset\s+[^;&|\n]{0,100}?--hard\b/i,
    description: 'git reset --hard (destroys uncommitted changes)',
    category: 'git-destructive',
  },
  {
    pattern: /\bgit\s+push\b[^;&|\n]{0,200}?(?:--force\b|\s-f\b|\s\+\w)/i,
    description: 'git force push (rewrites remote history)',
    category: 'git-destructive',
  },
  {
    pattern: /\bgit\s+clean\s+[^;&|\n]{0,100}?-\w*f/i,
    description: 'git clean with force (deletes untracked files)',
    category: 'git-destructive',
  },
  {
    pattern: /\bgit\s+branch\s+[^;&|\n]{0,100}?-D\b/,
    description: 'git branch force delete',
    category: 'git-destructive',
  },
  {
    pattern: /\b(?:apt|apt-get|dnf|yum|brew)\s+(?:-\S+\s+){0,4}(?:remove|purge|uninstall)\b/i,
    description: 'package removal',
    category: 'package-remove',
  },
  {
    pattern: /\b(?:terraform|tofu)\s+destroy\b/i,
    description: 'destroy cloud resources',
    category: 'cloud-destructive',
  },
  {
    pattern: /\b(?:Remove-Item|rd|rmdir|del)\s[^\n]{0,200}?(?:-Recurse\b|\/s\b)/i,
    description: 'Windows recursive delete',
    category: 'recursive-delete',
  },
  {
    pattern: /\bformat\s+[a-z]:|\bdiskpart\b|\bClear-Disk\b|\bvssadmin\s+delete\b/i,
    description: 'Windows disk or shadow copy removal',
    category: 'overwrite-data',
  },
  {
    pattern: /\btaskkill\s+[^\n]{0,100}?\/F\b|\bStop-(?:Service|Process)\b[^\n]{0,100}?-Force\b/i,
    description: 'Windows forced stop',
    category: 'process-kill',
  },
  {
    pattern: /\biwr\b[^\n]{0,400}?\|\s*iex\b|-EncodedCommand\b/i,
    description: 'Windows remote or encoded code',
    category: 'remote-code',
    allowable: false,
  },
];

/**
 * The same list as plain pairs of pattern and description.
 * @public
 */
export const DANGEROUS_PATTERNS: readonly (readonly [RegExp, string])[] = DANGER_PATTERNS.map(
  ({ pattern, description }) => [pattern, description] as const,
);

/** Text as the patterns see it: nothing hidden, line continuations joined, spelling tricks with quotes undone. */
export function normaliseForMatching(text: string): string {
  return normalise(text)
    .text.replace(/\\\n/g, '')
    .replace(/\$\{IFS[^}]{0,20}\}|\$IFS(?:\$\d)?/g, ' ')
    .replace(/(?<=\w)(?:''|"")(?=\w)/g, '')
    .replace(/\\(?=[a-zA-Z])/g, '')
    .replace(/[ \t]{2,}/g, ' ');
}

export function matchPatterns(text: string): DangerPattern | null {
  const plain = normaliseForMatching(text);
  const hits = DANGER_PATTERNS.filter(({ pattern }) => pattern.test(plain));
  return hits.find((hit) => hit.forbidden) ?? hits[0] ?? null;
}
