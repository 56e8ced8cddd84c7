import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildBusyboxRoot } from './docker.ts';

/**
 * A stand-in for Apptainer's command line, which Debian 12 doesn't package: `exec`, `instance start|stop|list` and the
 * flags used, on unshare and nsenter. It refuses every flag that it doesn't know, as the real one does.
 */
export interface SingularityStandIn {
  binary: string;
  image: string;
  folder: string;
  remove(): Promise<void>;
}

export async function createSingularityStandIn(): Promise<SingularityStandIn> {
  const folder = await mkdtemp(join(tmpdir(), 'hermes-apptainer-'));
  const image = join(folder, 'image');
  await mkdir(image);
  await buildBusyboxRoot(image);
  const binary = join(folder, 'apptainer');
  await writeFile(binary, script, { mode: 0o755 });
  return { binary, image, folder, remove: () => rm(folder, { recursive: true, force: true }) };
}

const script = `#!/bin/bash
state=$(dirname "$(readlink -f "$0")")/state
unknown() { echo "Error: unknown flag: $1" >&2; exit 1; }

start() {
  overlay=
  while [[ $1 == --* ]]; do
    case $1 in
      --containall|--no-home|--writable-tmpfs) shift;;
      --overlay) overlay=$2; shift 2;;
      --memory|--cpus) shift 2;;
      *) unknown "$1";;
    esac
  done
  image=$1 own=$state/$2
  [ -d "$image" ] || { echo "FATAL: no image $image" >&2; exit 255; }
  mkdir -p "$own"
  root=\${overlay:-$own}/root
  [ -d "$root" ] || cp -a "$image" "$root"
  unshare -m -p -f --propagation private sh -c '
    mount --bind "$1" "$1"; mount -t proc proc "$1/proc"; mount -t tmpfs tmpfs "$1/tmp"; mount --rbind /dev "$1/dev"
    echo ready >"$2/ready"
    exec chroot "$1" /bin/sh -c "trap \\"exit 0\\" TERM; while :; do sleep 3600 & wait \\$!; done"
  ' sh "$root" "$own" </dev/null >/dev/null 2>&1 &
  echo $! >"$own/pid"
  for _ in $(seq 100); do [ -e "$own/ready" ] && return; sleep 0.05; done
  echo "FATAL: the instance did not start" >&2; exit 255
}

init_of() { pgrep -P "$(cat "$state/$1/pid")"; }

case $1 in
  --version) echo "apptainer version 0-stand-in";;
  exec)
    shift; dir=/
    while [[ $1 == --* ]]; do
      case $1 in --cleanenv) shift;; --pwd) dir=$2; shift 2;; *) unknown "$1";; esac
    done
    name=\${1#instance://}; shift
    [ -e "$state/$name/pid" ] || { echo "FATAL: no instance found with name $name" >&2; exit 255; }
    exec env -i PATH=/bin HOME=/root HERMES_COMMAND="$HERMES_COMMAND" \\
      /usr/bin/nsenter -t "$(init_of "$name")" -m -p -r /bin/sh -c 'cd "$0" && exec "$@"' "$dir" "$@";;
  instance)
    sub=$2; shift 2
    case $sub in
      start) start "$@";;
      stop) kill -KILL "$(init_of "$1")"; rm -rf "\${state:?}/$1";;
      list) echo "INSTANCE NAME"; ls "$state" 2>/dev/null;;
      *) unknown "$sub";;
    esac;;
  *) unknown "$1";;
esac
`;
