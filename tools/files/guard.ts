import { posix } from 'node:path';
import { isWithin, type PlacedPath } from './paths.ts';

/** `never`: no one may approve it. `ask`: a person must agree to this write first. */
export type WriteGuard = { verdict: 'free' } | { verdict: 'ask' | 'never'; reason: string };

export interface GuardPlace {
  /** Home of the user that the environment runs as. */
  userHome: string;
  /** The gateway's state directory; null where the environment cannot reach it. */
  gatewayHome: string | null;
  /** Writes are confined to these when not empty. */
  safeRoots: readonly string[];
}

interface Rule {
  /** Absolute patterns: an entry ending in `/` covers all below it, one ending in `*` every name with that start. */
  paths: readonly string[];
  verdict: 'ask' | 'never';
  reason: string;
}

const below = (folder: string, names: readonly string[]) => names.map((name) => posix.join(folder, name));

/** The first rule that covers a path decides. */
const rulesFor = ({ userHome, gatewayHome }: GuardPlace): readonly Rule[] => [
  {
    paths: below(userHome, [
      '.ssh/',
      '.aws/',
      '.gnupg/',
      '.kube/',
      '.azure/',
      '.config/gcloud/',
      '.config/gh/',
      '.docker/config.json',
    ]),
    verdict: 'never',
    reason: 'it holds keys and credentials',
  },
  {
    paths: below(userHome, ['.netrc', '.pgpass', '.npmrc', '.pypirc', '.git-credentials']),
    verdict: 'never',
    reason: 'it holds credentials',
  },
  {
    paths: below(userHome, [
      '.bashrc',
      '.bash_profile',
      '.bash_login',
      '.bash_logout',
      '.bash_aliases',
      '.profile',
      '.zshrc',
      '.zshenv',
      '.zprofile',
      '.zlogin',
      '.zlogout',
      '.config/fish/',
      '.kshrc',
      '.cshrc',
      '.tcshrc',
    ]),
    verdict: 'never',
    reason: 'shells run it',
  },
  {
    paths: [
      '/etc/sudoers*',
      '/etc/passwd*',
      '/etc/shadow*',
      '/etc/group*',
      '/etc/gshadow*',
      '/etc/ssh/',
      '/etc/pam.d/',
    ],
    verdict: 'never',
    reason: 'it decides who may do what on this machine',
  },
  { paths: ['/dev/', '/proc/', '/sys/', '/boot/'], verdict: 'never', reason: 'it belongs to the system' },
  ...(gatewayHome === null ? [] : gatewayRules(gatewayHome)),
];

const gatewayRules = (home: string): readonly Rule[] => [
  {
    paths: below(home, [
      '.env*',
      'auth*',
      'tokens*',
      'pairing*',
      'state.db*',
      'gateway.pid',
      'gateway_state.json',
      'gateway.token*',
      'gateway_token*',
    ]),
    verdict: 'never',
    reason: 'it holds the gateway’s secrets or state',
  },
  { paths: below(home, ['cache/', 'logs/']), verdict: 'never', reason: 'the gateway keeps it itself' },
  {
    paths: below(home, ['config.yaml*', 'SOUL.md', 'memories/', 'skills/', 'plugins/', 'hooks/', 'cron/']),
    verdict: 'ask',
    reason: 'it changes how the agent and the gateway behave',
  },
];

/** Files that agents read as instructions, in any folder. */
const instructionFiles: ReadonlySet<string> = new Set([
  'agents.md',
  'claude.md',
  'gemini.md',
  'soul.md',
  '.hermes.md',
  'hermes.md',
  '.cursorrules',
  '.windsurfrules',
  'copilot-instructions.md',
]);

/** Whether a tool may write, move or delete this path. Judged on the resolved path and on the one that was named. */
export function guardWrite(place: GuardPlace, placed: Pick<PlacedPath, 'path' | 'realPath'>): WriteGuard {
  const { path, realPath } = placed;
  const { safeRoots } = place;
  if (safeRoots.length > 0 && !safeRoots.some((root) => isWithin(posix.normalize(root), realPath))) {
    return {
      verdict: 'never',
      reason: `writes are confined to ${safeRoots.join(', ')} (HERMES_WRITE_SAFE_ROOT)`,
    };
  }
  const rules = rulesFor(place);
  const rule =
    rules.find((each) => covers(each, realPath) || covers(each, path)) ??
    (isInstructionFile(realPath) || isInstructionFile(path) ? instructionRule : undefined);
  return rule ? { verdict: rule.verdict, reason: rule.reason } : { verdict: 'free' };
}

const instructionRule = { verdict: 'ask', reason: 'agents read it as instructions' } as const;

function isInstructionFile(path: string): boolean {
  return instructionFiles.has(posix.basename(path).toLowerCase()) || /\/\.cursor\/rules\//.test(path);
}

/** Without regard to case: some file systems have none, and the others lose little. */
function covers({ paths }: Rule, path: string): boolean {
  const lower = path.toLowerCase();
  return paths.some((each) => {
    const pattern = each.toLowerCase();
    if (pattern.endsWith('/')) return isWithin(pattern.slice(0, -1), lower);
    return pattern.endsWith('*') ? lower.startsWith(pattern.slice(0, -1)) : lower === pattern;
  });
}

/** Files whose lines a search leaves out: whoever needs one names it. */
export function isCredentialFile(path: string): boolean {
  const name = posix.basename(path);
  return (
    /^\.env(?:\.(?!example$|sample$|template$|dist$).+)?$/.test(name) ||
    /^(?:id_(?:rsa|dsa|ecdsa|ed25519)|\.netrc|\.pgpass|\.npmrc|\.pypirc|\.git-credentials|credentials(?:\.json)?|auth\.json|authorized_keys)$/.test(
      name,
    ) ||
    /\.(?:pem|key|p12|pfx|keystore|jks)$/.test(name) ||
    /\/\.(?:ssh|aws|gnupg|kube)\//.test(path)
  );
}

/** The gateway's own secrets, which no tool reads out. */
export function isGatewaySecret(gatewayHome: string | null, realPath: string): boolean {
  const [secrets] = gatewayHome === null ? [] : gatewayRules(gatewayHome);
  return secrets !== undefined && covers(secrets, realPath);
}
