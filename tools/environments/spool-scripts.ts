import { tagVariable } from './process-tree.ts';

/**
 * Commands in a place that can only run a short script and tell what it printed. The command runs on its own there;
 * its output lies in numbered files of at most 64 KiB until it has been fetched. Every script may be sent again with
 * the same effect, so an answer that got lost costs nothing: starting makes the job's folder or finds it, fetching
 * removes only what the caller says that it has, and each piece of input is numbered.
 *
 * Needs a POSIX `sh`, `mkfifo`, `dd`, `base64`, `ls -tr`; with `setsid -f` a command can also be interrupted.
 */

/** Files of 64 KiB that wait for each stream; then the command waits, as with a full pipe. */
const window = 32;
/** With this many at hand nothing more is waited for. A larger answer would take long to parse. */
const plenty = 16;
/** After the exit, for the end of the output, which a grandchild may hold for ever. */
const graceHundredths = 30;

/**
 * Fetches. Arguments: the job's folder, how long to wait for anything and how long to gather once there is something,
 * both in hundredths of a second, then the pieces received.
 */
export const followScript = `
cd -- "$1" 2>/dev/null || { echo gone; exit 0; }
h_wait=$2 h_gather=$3
shift 3
for h_n; do rm -f "$h_n" "$h_n.ok"; done
h_over=0 h_with=0 h_held=0 h_nap=2
while :; do
  h_exit= h_end=
  [ -e exit ] && h_exit=1
  [ -e o.end ] && [ -e e.end ] && h_end=1
  set -- *.ok
  [ -e "$1" ] || set --
  [ -n "$h_exit" ] && [ -n "$h_end" ] && break
  [ -n "$h_exit" ] && [ $h_held -ge ${graceHundredths} ] && break
  [ $# -gt 0 ] && { [ $h_with -ge $h_gather ] || [ $# -ge ${plenty} ]; } && break
  [ $h_over -ge $h_wait ] && break
  sleep 0.0$h_nap 2>/dev/null || sleep 1
  h_over=$((h_over + h_nap))
  [ $# -gt 0 ] && h_with=$((h_with + h_nap))
  [ -n "$h_exit" ] && h_held=$((h_held + h_nap))
  [ $h_nap -lt 9 ] && [ $h_over -gt 50 ] && h_nap=9
done
[ $# -gt 0 ] && ls -tr -- "$@" | while read -r h_n; do
  echo "\${h_n%.ok}"
  base64 <"\${h_n%.ok}"
  echo .
done
[ -n "$h_exit" ] && echo "exit $(cat exit)"
[ -n "$h_exit" ] && [ -n "$h_end" ] && echo end
exit 0`;

/** Runs one command to its end. Arguments: folder, tag, folder to run in, streams, input, file of arguments, the rest. */
const runnerScript = `
h_dir=$1 h_tag=$2 h_cwd=$3 h_streams=$4 h_in=$5 h_argv=$6
shift 6
[ "$h_argv" = - ] || . "$h_argv"
pump() {
  h_i=0
  while :; do
    while [ -e "$h_dir/$1.$((h_i - ${window}))" ]; do sleep 0.05 2>/dev/null || sleep 1; done
    dd bs=65536 count=1 of="$h_dir/$1.$h_i" 2>/dev/null || break
    [ -s "$h_dir/$1.$h_i" ] || break
    : >"$h_dir/$1.$h_i.ok" || break
    h_i=$((h_i + 1))
  done 2>/dev/null
  [ ! -d "$h_dir" ] || : >"$h_dir/$1.end"
}
hold() {
  exec 3<>"$h_dir/in"
  while [ -d "$h_dir" ] && [ ! -e "$h_dir/eof" ] && [ ! -e "$h_dir/exit" ]; do sleep 0.2 2>/dev/null || sleep 1; done
}
pump o <"$h_dir/o" &
if [ "$h_streams" = merged ]; then : >"$h_dir/e.end"; else pump e <"$h_dir/e" & fi
case $h_in in
  none) h_in=/dev/null;;
  held) h_in=$h_dir/in; hold &;;
esac
h_free=
command -v setsid >/dev/null && h_free=setsid
(
  if [ "$h_streams" = merged ]; then exec 2>&1; else exec 2>"$h_dir/e"; fi
  [ -z "$h_cwd" ] || cd -- "$h_cwd" || exit 1
  exec $h_free env "${tagVariable}=$h_tag" "$@"
) <"$h_in" >"$h_dir/o"
echo $? >"$h_dir/exit.new"
mv -f "$h_dir/exit.new" "$h_dir/exit"`;

/**
 * Starts a command and fetches what it has to tell at once. Arguments: folder of jobs, tag, folder to run in,
 * `merged` or `apart`, input (`none`, `held` or a file), file of arguments or `-`, wait in hundredths of a second,
 * how many finished jobs to forget, their tags, then the command.
 */
export const startScript = `
h_jobs=$1 h_tag=$2 h_cwd=$3 h_streams=$4 h_in=$5 h_argv=$6 h_wait=$7 h_n=$8
shift 8
while [ "$h_n" -gt 0 ]; do rm -rf "$h_jobs/$1" "$h_jobs/$1.in" "$h_jobs/$1.argv"; shift; h_n=$((h_n - 1)); done
h_dir=$h_jobs/$h_tag
[ -d "$h_jobs" ] || mkdir -p -m 700 "$h_jobs"
if (umask 077; mkdir -- "$h_dir") 2>/dev/null; then
  mkfifo -m 600 "$h_dir/o" "$h_dir/e" "$h_dir/in" || exit 1
  h_run='${runnerScript.replaceAll("'", `'\\''`)}'
  if setsid -f true 2>/dev/null; then
    setsid -f sh -c "$h_run" sh "$h_dir" "$h_tag" "$h_cwd" "$h_streams" "$h_in" "$h_argv" "$@" </dev/null >/dev/null 2>&1
  else
    sh -c "$h_run" sh "$h_dir" "$h_tag" "$h_cwd" "$h_streams" "$h_in" "$h_argv" "$@" </dev/null >/dev/null 2>&1 &
  fi
fi
set -- "$h_dir" "$h_wait" 10
${followScript}`;

/** Writes a piece of input. Arguments: the job's folder, the piece's number, its base64 text. Prints `no` when too late. */
export const inputScript = `
[ ! -e "$1/exit" ] && [ ! -e "$1/eof" ] && [ -d "$1" ] || { echo no; exit 0; }
mkdir "$1/input.$2" 2>/dev/null || exit 0
printf %s "$3" | base64 -d 1<>"$1/in"`;

/** Closes a job's input. Argument: its folder. */
export const closeInputScript = ': 2>/dev/null >"$1/eof"; exit 0';

/** What a fetch told, in its order. */
export type SpoolLine =
  | { kind: 'chunk'; name: string; stream: 'stdout' | 'stderr'; data: Buffer }
  | { kind: 'exit'; code: number }
  | { kind: 'end' }
  | { kind: 'gone' };

/** Reads what `followScript` printed. Pieces of one stream come in order of their numbers, whatever their times say. */
export function parseFetched(text: string): SpoolLine[] {
  const lines: SpoolLine[] = [];
  const words = text.split('\n');
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index] ?? '';
    if (/^[oe]\.\d+$/.test(word)) {
      const until = words.indexOf('.', index);
      if (until < 0) break;
      const data = Buffer.from(words.slice(index + 1, until).join(''), 'base64');
      lines.push({ kind: 'chunk', name: word, stream: word.startsWith('o') ? 'stdout' : 'stderr', data });
      index = until;
    } else if (/^exit \d+$/.test(word))
      lines.push({ kind: 'exit', code: Number(word.slice('exit '.length)) });
    else if (word === 'end' || word === 'gone') lines.push({ kind: word });
  }
  return inOrder(lines);
}

const numberOf = (name: string) => Number(name.slice(2));

function inOrder(lines: readonly SpoolLine[]): SpoolLine[] {
  const chunks = lines.filter((line) => line.kind === 'chunk');
  const sorted = chunks.toSorted((a, b) => numberOf(a.name) - numberOf(b.name));
  const queues = {
    stdout: sorted.filter(({ stream }) => stream === 'stdout'),
    stderr: sorted.filter(({ stream }) => stream === 'stderr'),
  };
  return lines.map((line) => (line.kind === 'chunk' ? (queues[line.stream].shift() ?? line) : line));
}
