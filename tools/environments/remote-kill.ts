import { tagVariable } from './process-tree.ts';

/**
 * Ends everything that carries a command's tag, inside the place itself: TERM, half a second, KILL. Prints the pids
 * that still live. Needs a POSIX `sh`, `tr`, `grep` and /proc. A zombie has an empty environment, so it counts as dead.
 */
export const killScript = `
members() {
  for d in /proc/[0-9]*; do
    if tr '\\0' '\\n' <"$d/environ" 2>/dev/null | grep -q "^${tagVariable}=$1$"; then echo "\${d#/proc/}"; fi
  done 2>/dev/null
}
for s in TERM KILL; do
  n=0
  while [ $n -lt 6 ]; do
    m=$(members "$1")
    if [ -z "$m" ]; then exit 0; fi
    if [ $n = 0 ] || [ $s = KILL ]; then kill -s $s $m 2>/dev/null; fi
    n=$((n + 1))
    sleep 0.1 2>/dev/null || sleep 1
  done
done
members "$1"`;

export const killArgv = (tag: string): readonly string[] => ['sh', '-c', killScript, 'sh', tag];

/** The pids that the script printed. */
export const parseSurvivors = (text: string): number[] => text.split('\n').filter(Boolean).map(Number);
