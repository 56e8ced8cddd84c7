import { commandText, type SimpleCommand } from '../shell/command.ts';
import { normalise } from '../shell/normalise.ts';
import { UNKNOWN } from '../shell/value.ts';
import { walkShell } from '../shell/walk.ts';
import type { CommandContext, Judgement } from '../verdict.ts';
import { previewContainers } from './containers.ts';
import type { Look, Preview, PreviewExec } from './exec.ts';
import { previewChange, previewFind, previewRemoval } from './files.ts';
import { previewGit } from './git.ts';
import { previewProcesses } from './processes.ts';
import { previewSqlite } from './sqlite.ts';

export type { Preview, PreviewExec } from './exec.ts';

/** After this long the card says "not known" instead. */
const BOUND_MS = 300;
const MAX_PREVIEWED = 3;

type Previewer = (command: SimpleCommand, look: Look) => Promise<Preview | null>;

/** The look-up for each program; adding a kind of preview is one line here. */
const PREVIEWERS: Readonly<Record<string, Previewer>> = {
  rm: previewRemoval,
  rimraf: previewRemoval,
  shred: previewRemoval,
  truncate: previewRemoval,
  find: previewFind,
  git: previewGit,
  chmod: previewChange,
  chown: previewChange,
  chgrp: previewChange,
  pkill: previewProcesses,
  killall: previewProcesses,
  kill: previewProcesses,
  docker: previewContainers,
  podman: previewContainers,
  sqlite3: previewSqlite,
};

/**
 * What a dangerous command would reach, worked out with read-only programs run by `exec` where the command would
 * run. Null, "not known", after 300 ms, when anything fails, or when the command holds what only running it tells.
 * Never rejects.
 */
export async function previewReach(
  command: string,
  judgement: Judgement,
  exec: PreviewExec,
  signal: AbortSignal,
  context: CommandContext = {},
): Promise<Preview | null> {
  if (judgement.verdict !== 'dangerous') return null;
  const found = findPreviewed(command, judgement, context);
  if (found.length === 0 || found.length > MAX_PREVIEWED) return null;
  const bound = AbortSignal.any([signal, AbortSignal.timeout(BOUND_MS)]);
  if (bound.aborted) return null;
  const expired = new Promise<null>((resolve) => {
    bound.addEventListener('abort', () => resolve(null), { once: true });
  });
  return await Promise.race([expired, previewAll(found, exec, bound)]);
}

/** The commands with a finding that some previewer knows and that run here, not on another machine. */
function findPreviewed(command: string, judgement: Judgement, context: CommandContext): SimpleCommand[] {
  const dangerous = new Set(judgement.findings.map((finding) => finding.command));
  const found = new Map<string, SimpleCommand>();
  let opaque = false;
  walkShell(normalise(command).text, context, {
    command(one) {
      const text = commandText(one);
      if (!Object.hasOwn(PREVIEWERS, one.program) || !dangerous.has(text)) return;
      const elsewhere = one.remote || one.cwd?.startsWith(UNKNOWN) === true;
      // Without a home in the context `~` has no place to look at.
      if (elsewhere || (context.home === undefined && /(?:^|\s)\/home\/~/.test(text))) opaque = true;
      found.set(text, one);
    },
    forkBomb() {
      opaque = true;
    },
  });
  return opaque ? [] : [...found.values()];
}

async function previewAll(
  found: readonly SimpleCommand[],
  exec: PreviewExec,
  signal: AbortSignal,
): Promise<Preview | null> {
  const previews: Preview[] = [];
  for (const command of found) {
    const look = lookWith(exec, command, signal);
    const preview = await PREVIEWERS[command.program]?.(command, look);
    if (preview === undefined || preview === null || signal.aborted) return null;
    previews.push(preview);
  }
  const [first] = previews;
  return previews.length === 1 && first !== undefined
    ? first
    : { text: previews.map((preview) => preview.text).join(' · ') };
}

/** A look-up that fails counts as not known; `pgrep` says 1 when it finds nothing. */
function lookWith(exec: PreviewExec, command: SimpleCommand, signal: AbortSignal): Look {
  return async (argv) => {
    try {
      const result = await exec(argv, {
        timeoutMs: BOUND_MS,
        signal,
        ...(command.cwd === null ? {} : { cwd: command.cwd }),
      });
      const nothing = result.exitCode === 1 && argv[0] === 'pgrep' && result.stdout === '';
      return result.exitCode === 0 || nothing ? result.stdout : null;
    } catch {
      // A missing program or a cut connection: the card says that the reach is not known.
      return null;
    }
  };
}
