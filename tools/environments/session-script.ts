import { terminalSize } from './transport.ts';

/**
 * The shell text around a session's command. There is no long-lived shell: each command is one process that reads
 * the session's state from a file, runs, writes the state to another file and prints a marker with its folder. All
 * of it is builtins, so the wrapping starts no process.
 */
export type ShellName = 'bash' | 'sh';

/** What a shell can save. POSIX `sh` cannot print its functions, so there only exports persist. */
const dump: Record<ShellName, string> = {
  // Options first, as functions may need extglob; aliases last, lest they expand inside the functions.
  bash: 'shopt -p; umask -p; declare -f; declare -Fx; export -p; alias -p',
  sh: 'export -p',
};

/** By these words in its arguments a command's shell is known from outside. */
export const commandSignature = 'h_streams=$6 h_cmd=$7';

/** A shell that isn't interactive ignores its aliases unless told. */
const aliases: Record<ShellName, string> = { bash: 'shopt -s expand_aliases\n', sh: '' };

/** Writes the login environment to `$1`. */
export const baseScript = (shell: ShellName) =>
  `h_dst=$1; set --; unset HERMES_COMMAND; { ${dump[shell]}; } >|"$h_dst"`;

const readState = `
h_tag=$HERMES_COMMAND
if [ ! -r "$h_src" ]; then printf '%s:lost::%s' "$h_mark" "$h_mark"; exit 1; fi
. "$h_src" >/dev/null 2>&1
export HERMES_COMMAND="$h_tag"
if ! command cd -- "$h_cwd" 2>/dev/null; then
  if [ "$h_mode" = strict ]; then printf '%s:nodir::%s' "$h_mark" "$h_mark"; exit 1; fi
  h_gone=$h_cwd
  while [ -n "$h_cwd" ]; do
    h_cwd=\${h_cwd%/*}
    command cd -- "\${h_cwd:-/}" 2>/dev/null && break
  done
  printf '[The folder %s is gone; now in %s]\\n' "$h_gone" "$PWD" >&2
fi`;

/**
 * Arguments: state file to read, state file to write, folder, `strict` or `lenient` about a missing folder, mark,
 * `merged` or `apart`, the command.
 */
export const commandScript = (shell: ShellName) => `
h_src=$1 h_dst=$2 h_cwd=$3 h_mode=$4 h_mark=$5 ${commandSignature}
set --
if [ "$h_streams" = merged ]; then exec 2>&1; fi
${readState}
h_end='{ h_status=$?; set +x; trap - EXIT; unset HERMES_COMMAND; } 2>/dev/null
h_state=kept
{ ${dump[shell]}; } 2>/dev/null >|"$h_dst" && h_state=saved
printf "%s:%s:%s:%s" "$h_mark" "$h_state" "$PWD" "$h_mark"
exit "$h_status"'
trap "$h_end" EXIT
${aliases[shell]}eval "$h_cmd"
eval "$h_end"`;

/**
 * For background processes. Arguments: state file to read, folder, mark, the command. The state is never written; the
 * marker comes first and tells the pid and the command's tag.
 */
export const backgroundScript = (shell: ShellName) => `
h_src=$1 h_cwd=$2 h_mark=$3 h_cmd=$4 h_mode=lenient
set --
${readState}
printf '%s:started:%s:%s' "$h_mark" "$$ $h_tag" "$h_mark"
if [ -t 0 ]; then stty rows ${terminalSize.rows} cols ${terminalSize.columns} 2>/dev/null; fi
unset h_src h_cwd h_mark h_mode h_tag h_gone
${aliases[shell]}eval "$h_cmd"`;

/** `started` is told by background processes, with their pid and tag in place of the folder. */
export type MarkerState = 'saved' | 'kept' | 'nodir' | 'lost' | 'started';

export interface Marker {
  state: MarkerState;
  cwd: string;
}

/** Reads `state:cwd` from between two marks. */
export function parseMarker(text: string): Marker | null {
  const match = /^(saved|kept|nodir|lost|started):(.*)$/s.exec(text);
  const state = markerStates.find((name) => name === match?.[1]);
  return state === undefined ? null : { state, cwd: match?.[2] ?? '' };
}

const markerStates: readonly MarkerState[] = ['saved', 'kept', 'nodir', 'lost', 'started'];
