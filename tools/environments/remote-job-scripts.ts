import { tagVariable } from './process-tree.ts';

/**
 * Background processes in a place that outlives the gateway. Their output goes to a log in a private folder there as
 * well as to the gateway, and their exit code to a file, so that a gateway that was away learns what it missed.
 *
 * Needs a POSIX `sh` with `dd`, `mkfifo`, `tee` and `wc`; where one is missing the process runs without a log.
 */

/** A log goes on in a new file after so many bytes; the one before is kept. The file's name tells where it begins. */
const segmentBytes = 1_048_576;
/** Tenths of a second for the end of the output, which a grandchild may hold for ever. */
const graceTenths = 6;

/**
 * Runs a command to its end. Arguments: the start of the job folder's path, which its tag completes, then the command.
 * `trap :` lets the code of a command that is ended by TERM be written; the command itself is ended by TERM as usual.
 */
export const superviseScript = `
h_dir=$1$${tagVariable}
shift
for h_need in dd mkfifo tee wc; do command -v $h_need >/dev/null 2>&1 || exec "$@"; done
(umask 077; mkdir -- "$h_dir" && mkfifo -- "$h_dir/o") 2>/dev/null || exec "$@"
echo $$ >"$h_dir/pid"
exec 3>&1
pump() {
  trap '' PIPE TERM
  h_from=0 h_pieces=0 h_before=
  while dd bs=65536 count=1 of="$h_dir/piece" 2>/dev/null && [ -s "$h_dir/piece" ]; do
    tee -a "$h_dir/log.$h_from" <"$h_dir/piece" >&3
    h_pieces=$((h_pieces + 1))
    [ $h_pieces -ge 16 ] || continue
    h_pieces=0
    h_size=$(wc -c <"$h_dir/log.$h_from")
    [ "$h_size" -ge ${segmentBytes} ] || continue
    [ -z "$h_before" ] || rm -f "$h_dir/log.$h_before"
    h_before=$h_from
    h_from=$((h_from + h_size))
  done 2>/dev/null
  # Without a place for the log, such as on a full disk, the command goes on all the same.
  cat >&3 2>/dev/null || cat >/dev/null
  [ ! -d "$h_dir" ] || : >"$h_dir/end"
}
pump <"$h_dir/o" &
trap : TERM
"$@" >"$h_dir/o" 2>&1 3>&-
h_code=$?
echo $h_code >"$h_dir/exit.new" && mv -f "$h_dir/exit.new" "$h_dir/exit"
h_n=0
while [ -d "$h_dir" ] && [ ! -e "$h_dir/end" ] && [ $h_n -lt ${graceTenths} ]; do
  h_n=$((h_n + 1))
  sleep 0.1 2>/dev/null || sleep 1
done
exit $h_code`;

/** No answer holds more of a log than this. */
export const mostLogBytes = 1_000_000;

/**
 * Tells how a job is and what it printed. Arguments: its folder, its tag, its pid, how many bytes of its output are
 * known. Prints `state:bytes before what follows:` and a newline, then output. The state is `running`, `gone` or the
 * exit code, with `+` when no more output can come.
 */
export const lookScript = `
h_dir=$1 h_tag=$2 h_pid=$3 h_at=$4
[ ! -r "$h_dir/pid" ] || h_pid=$(cat "$h_dir/pid")
h_lives() {
  [ -d /proc/self ] || { kill -0 "$h_pid" 2>/dev/null; return; }
  tr '\\0' '\\n' <"/proc/$h_pid/environ" 2>/dev/null | grep -q "^${tagVariable}=$h_tag$"
}
h_state=running
h_lives || h_state=gone
if [ -e "$h_dir/exit" ]; then
  h_over=
  [ ! -e "$h_dir/end" ] || h_over=+
  h_state=$(cat "$h_dir/exit")$h_over
fi
h_best=
for h_log in "$h_dir"/log.*; do
  [ -e "$h_log" ] || continue
  h_from=\${h_log##*.}
  [ $((h_from + $(wc -c <"$h_log"))) -gt $h_at ] || continue
  if [ -z "$h_best" ] || [ $h_from -lt $h_best ]; then h_best=$h_from; fi
done
[ -z "$h_best" ] || [ $h_best -le $h_at ] || h_at=$h_best
echo "$h_state:$h_at:"
[ -z "$h_best" ] || tail -c "+$((h_at - h_best + 1))" "$h_dir/log.$h_best" | head -c ${mostLogBytes}
exit 0`;

/** One look at a job: its state, the log's bytes before `output`, and the output itself. */
export interface JobLook {
  state: 'running' | 'gone' | 'exited';
  exitCode: number | null;
  isOver: boolean;
  from: number;
  output: Buffer;
}

export function parseLook(bytes: Buffer): JobLook | null {
  const line = bytes.subarray(0, bytes.indexOf('\n')).toString('utf8');
  const match = /^(running|gone|\d+)(\+?):(\d+):$/.exec(line);
  if (match === null) return null;
  const [, word = '', over, from] = match;
  const code = /^\d+$/.test(word) ? Number(word) : null;
  return {
    state: code !== null ? 'exited' : word === 'gone' ? 'gone' : 'running',
    exitCode: code,
    isOver: over === '+',
    from: Number(from),
    output: bytes.subarray(line.length + 1),
  };
}
