import { isLeftover } from './command-tags.ts';
import { tagVariable } from './process-tree.ts';
import { killArgv } from './remote-kill.ts';
import { commandSignature } from './session-script.ts';

/** Runs a program where the commands run; resolves with what it printed. */
export type RunThere = (argv: readonly string[]) => Promise<string>;

/**
 * Prints the tags of an installation's commands whose own shell still runs. What a finished command left behind, such
 * as a server that went into the background, has no such shell: it is nobody's to end. The shell of a command leads
 * its session, which a subshell with the same arguments does not. Argument: the installation.
 */
const listScript = `
for h_file in $(grep -lsF '${commandSignature}' /proc/[0-9]*/cmdline); do
  h_dir=\${h_file%/cmdline}
  set -- "$1" $(sed 's/.*) //' "$h_dir/stat" 2>/dev/null)
  [ "\${5:-}" = "\${h_dir#/proc/}" ] || continue
  tr '\\0' '\\n' <"$h_dir/environ" 2>/dev/null | grep "^${tagVariable}=$1\\."
done
exit 0`;

/** Ends the commands that killed gateways of this installation left running; resolves with their tags. */
export async function reapCommands(run: RunThere, installId: string): Promise<string[]> {
  const text = await run(['sh', '-c', listScript, 'sh', installId]);
  const tags = new Set(
    text
      .split('\n')
      .filter(Boolean)
      .map((line) => line.slice(tagVariable.length + 1)),
  );
  const ended: string[] = [];
  for (const tag of tags) {
    if (!(await isLeftover(tag))) continue;
    await run(killArgv(tag));
    ended.push(tag);
  }
  return ended;
}
