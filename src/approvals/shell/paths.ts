import type { CommandContext } from '../verdict.ts';
import { globMatches, hasGlob } from './glob.ts';
import { homeOf } from './state.ts';
import { UNKNOWN } from './value.ts';

/** What the policy says of paths. All paths here are resolved (`resolvePath`); none is ever looked up on disk. */

/** Deleting one of these as a whole takes the machine down. */
const TOP_LEVEL = [
  '/bin',
  '/boot',
  '/dev',
  '/etc',
  '/home',
  '/lib',
  '/lib32',
  '/lib64',
  '/libx32',
  '/opt',
  '/proc',
  '/root',
  '/run',
  '/sbin',
  '/srv',
  '/sys',
  '/usr',
  '/var',
  '/Users',
  '/System',
  '/Library',
  '/Applications',
  '/private',
  '/private/etc',
  '/private/var',
];
/** A last component that stands for all of a directory: `*`, `.*`, `**`, `.[!.]*`, `?*`. */
const EVERYTHING = /\/(?:\.?[*?]+|\.?\[[^\]/]{1,64}\]\*)$/;

export function isHome(path: string, context: CommandContext): boolean {
  return path === homeOf(context) || path === '/root' || /^\/(?:home|Users)\/[^/]+$/.test(path);
}

/** Whether deleting the path would take the root, a top-level system directory or a home as a whole. */
export function isWhole(path: string, context: CommandContext): boolean {
  let base = path;
  while (EVERYTHING.test(base)) base = base.replace(EVERYTHING, '') || '/';
  if (base === '/' || isHome(base, context) || TOP_LEVEL.includes(base)) return true;
  return hasGlob(base) && /^\/[^/]+$/.test(base) && TOP_LEVEL.some((top) => globMatches(base, top));
}

const SYSTEM = /^\/(?:etc|boot|usr|lib(?:32|64|x32)?|bin|sbin|sys|proc\/sys|private\/etc|System)(?:\/|$)/;

/** Where a write changes the system. `/` itself counts. */
export function isSystemPath(path: string): boolean {
  return path === '/' || SYSTEM.test(path);
}

/** `/var` and `/srv` too: there a change of permissions breaks services. */
export function isPermissionPath(path: string): boolean {
  return (
    isSystemPath(path) ||
    /^\/(?:var|srv|root|home|opt|dev|Users)$/.test(path) ||
    /^\/(?:var|srv)\//.test(path)
  );
}

/** A whole disk, a partition or a mapped volume. Loop devices are plain files underneath. */
const DISK =
  /^\/dev\/(?:sd[a-z*?[]|hd[a-z*?[]|vd[a-z*?[]|xvd[a-z*?[]|nvme\d|mmcblk\d|r?disk\d|mapper\/|md\d|md\/|dm-\d|disk\/by-|block\/|vg)/;

export function isDisk(path: string): boolean {
  return DISK.test(path) && path !== '/dev/mapper/control';
}

const SCRATCH = /^(?:\/private)?\/(?:tmp|var\/tmp)\/.|^\/dev\/shm\/.|^\/var\/folders\/./;

const SCRATCH_FOLDER = /^(?:(?:\/private)?\/(?:tmp|var\/tmp)|\/dev\/shm|\/var\/folders)\//;

export function isScratch(path: string): boolean {
  return SCRATCH.test(path);
}

/** `/dev/null`, the standard streams and terminals: writing there loses nothing. */
export function isHarmlessSink(path: string): boolean {
  return /^\/dev\/(?:null|std(?:in|out|err)|fd\/\d+|tty\w*|pts\/\d+|zero|full|random|urandom|console|ptmx)$/.test(
    path,
  );
}

export function isBelow(path: string, folder: string): boolean {
  if (folder === '/') return path.startsWith('/');
  return path === folder || path.startsWith(`${folder.replace(/\/+$/, '')}/`);
}

/**
 * Whether the path belongs to the session: below its working directory or roots, or a scratch folder. A relative
 * path, or one that starts with something unknown, counts as inside. `followed` is where `cd` led in this line: it
 * counts when nothing says where the session's own directories are.
 */
export function isInside(path: string, context: CommandContext, followed: string | null): boolean {
  if (!path.startsWith('/') || isScratch(path)) return true;
  const roots = [...(context.cwd === undefined ? [] : [context.cwd]), ...(context.roots ?? [])];
  if (roots.length === 0 && followed?.startsWith('/') && !isWhole(followed, context)) roots.push(followed);
  return roots.some((root) => isBelow(path, root));
}

export function isUnderHome(path: string, context: CommandContext): boolean {
  return isBelow(path, homeOf(context)) || /^\/(?:home|Users)\/[^/]+\/|^\/root\//.test(path);
}

const STARTUP =
  /^\.(?:bashrc|bash_profile|bash_login|bash_logout|bash_aliases|profile|zshrc|zprofile|zshenv|zlogin|zlogout|kshrc|mkshrc|cshrc|tcshrc|login|logout|xprofile|xinitrc|xsession|xsessionrc|npmrc|pypirc|pam_environment)$/;
const CREDENTIAL_ANYWHERE =
  /(?:^|\/)(?:\.ssh(?:\/|$)|\.aws(?:\/|$)|\.azure(?:\/|$)|\.gnupg(?:\/|$)|\.kube\/config$|\.docker\/config\.json$|\.config\/(?:gcloud|gh\/hosts|rclone)|\.netrc$|_netrc$|\.pgpass$|\.my\.cnf$|\.git-credentials$|\.vault-token$|\.cargo\/credentials|\.gem\/credentials|\.terraform\.d\/credentials|\.git\/hooks\/(?!.*\.sample$)|\.config\/fish\/(?:config\.fish|conf\.d\/))/;
const ENV_FILE = /(?:^|\/)\.env(?:\.[\w.-]+)?$/;
const ENV_TEMPLATE = /\.(?:example|sample|template|dist|tpl|defaults?|schema)$/;
const NAMED_CREDENTIAL =
  /(?:credentials?|client[-_]secrets?|oauth[^/]*keys?|service[-_]?account[^/]*)\.(?:json|ya?ml|toml|ini)$/i;

export function isEnvFile(path: string): boolean {
  return ENV_FILE.test(path) && !ENV_TEMPLATE.test(path);
}

export function isEnvTemplate(path: string): boolean {
  return /(?:^|\/)\.?env\./.test(path) && ENV_TEMPLATE.test(path);
}

/** Whether a write there changes what logs in somewhere, or what runs at the next login. */
export function isCredentialPath(path: string, context: CommandContext): boolean {
  if (CREDENTIAL_ANYWHERE.test(path) || isEnvFile(path)) return true;
  const slash = path.lastIndexOf('/');
  if (slash > 0 && isHome(path.slice(0, slash), context) && STARTUP.test(path.slice(slash + 1))) return true;
  if (/\/(?:\.config\/autostart|Library\/Launch(?:Agents|Daemons))\//.test(path)) return true;
  return isUnderHome(path, context) && NAMED_CREDENTIAL.test(path);
}

const PRIVATE =
  /(?:(?:^|\/)\.ssh\/(?!(?:known_hosts|config|authorized_keys|environment)\b|[^/]*\.pub$)[^/]*(?:id_|_rsa|_dsa|_ed25519|_ecdsa|\.pem|\.key|\*)[^/]*$|(?:^|\/)id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?$|^\/etc\/g?shadow-?$|^\/etc\/ssl\/private\/|^\/etc\/ssh\/ssh_host_\w+_key$|(?:^|\/)privkey\d*\.pem$|\.gnupg\/(?:private-keys|secring)|\.local\/share\/keyrings(?:\/|$)|Library\/Keychains(?:\/|$)|\.mozilla\/firefox\/|\.config\/(?:google-chrome|chromium|BraveSoftware|microsoft-edge)\/|Application Support\/(?:Google\/Chrome|Firefox|BraveSoftware)|(?:^|\/)(?:logins\.json|key[34]\.db|Login Data|cookies\.sqlite)$|\.password-store\/)/;

/** Whether the content would give someone away even with no network command beside: keys, password hashes, keyrings. */
export function isPrivate(path: string): boolean {
  return PRIVATE.test(path);
}

/** Whether the content must not leave the machine: all of the above and any credential or `.env` file. */
export function isSecret(path: string, context: CommandContext): boolean {
  if (isPrivate(path) || isEnvFile(path)) return true;
  if (/\.git\/hooks\//.test(path) || /\.pub$/.test(path)) return false;
  return isCredentialPath(path, context) || /(?:^|\/)\.(?:bash|zsh|psql|mysql)_history$/.test(path);
}

const ROUTINE_NAME =
  /^(?:node_modules|dist|build|out|target|coverage|\.next|\.nuxt|\.turbo|\.cache|\.parcel-cache|\.svelte-kit|__pycache__|\.pytest_cache|\.mypy_cache|\.ruff_cache|\.tox|\.venv|[\w.-]*\.egg-info|\*\.egg-info|obj|tmp)$/;

/**
 * Whether deleting it is what it is there for: a named path below `/tmp`, package lists, or a build output of the
 * project. `written` is the path as the command spells it: only relative build outputs are routine.
 */
export function isRoutine(written: string, resolved: string): boolean {
  if (/^\/var\/lib\/apt\/lists\/?\*?$/.test(written)) return true;
  if (isScratch(resolved)) {
    const [first = ''] = resolved.replace(SCRATCH_FOLDER, '').split('/');
    return first !== '' && !hasGlob(first);
  }
  if (/^[/~]/.test(written) || written.startsWith(UNKNOWN) || written.split('/').includes('..')) return false;
  const parts = written.split('/').filter((part) => part !== '' && part !== '.' && part !== '*');
  return (
    /(?:^|\/)bin\/(?:Debug|Release)$/.test(parts.join('/')) || parts.some((part) => ROUTINE_NAME.test(part))
  );
}

/** Whether the content opens the gateway: with its token, or what its process was started with, a command could approve itself. */
export function isGatewaySecret(path: string, context: CommandContext): boolean {
  if (/^\/proc\/(?!(?:thread-)?self\/)[^/]+\/(?:environ|mem)$/.test(path)) return true;
  return gatewayHomes(context).some(
    (folder) => path === `${folder}/gateway.token` || path === `${folder}/.env`,
  );
}

function gatewayHomes(context: CommandContext): string[] {
  const home = homeOf(context);
  return [
    `${home}/.hermes`,
    `${home}/.hermes-gateway`,
    ...(context.gatewayHome === undefined ? [] : [context.gatewayHome]),
  ];
}

/** Whether the path is the gateway's home as a whole, or a file in it that the gateway lives by. */
export function isGatewayState(path: string, context: CommandContext): boolean {
  return gatewayHomes(context).some((folder) => {
    if (path === folder || path === `${folder}/*`) return true;
    if (!path.startsWith(`${folder}/`)) return false;
    return /^(?:config\.yaml|\.env|state\.db[\w.*-]*|pairing(?:\/|$)|plugins(?:\/|$)|hooks(?:\/|$)|gateway\.(?:pid|token)|gateway_state\.json|\*\.(?:db|yaml))/.test(
      path.slice(folder.length + 1),
    );
  });
}
