import type Docker from 'dockerode';
import { errorMessage } from '../../src/errors.ts';
import type { Log } from '../../src/log.ts';
import { ask } from './docker-engine.ts';

/** Storage drivers that can limit a container's own files (docs.docker.com: docker run, --storage-opt). */
const limiting: ReadonlySet<string> = new Set(['btrfs', 'zfs', 'devicemapper', 'windowsfilter']);

/** Reasons that were told already: each is one of the machine, so once is enough. */
const told = new Set<string>();

/**
 * Makes the container with `terminal.container_disk` where the engine can hold a container to it, else without; the
 * reason is logged once.
 */
export async function createLimited(
  engine: Docker,
  body: Docker.ContainerCreateOptions,
  diskMegabytes: number,
  log: Log,
): Promise<Docker.Container> {
  const create = (options: Docker.ContainerCreateOptions) =>
    ask('create the container', engine.createContainer(options), 60_000);
  if (diskMegabytes <= 0) return create(body);
  const reason = await whyNot(engine);
  if (reason === null) {
    try {
      const storage = { size: `${diskMegabytes}M` };
      return await create({ ...body, HostConfig: { ...body.HostConfig, StorageOpt: storage } });
    } catch (error) {
      // Only the engine knows of the mount option that it needs; it refuses then, and nothing was made.
      if (!/storage.?opt|quota/i.test(errorMessage(error))) throw error;
      warnOnce(errorMessage(error), log);
    }
  } else warnOnce(reason, log);
  return create(body);
}

async function whyNot(engine: Docker): Promise<string | null> {
  const info: { Driver?: string; DriverStatus?: string[][] | null } = await ask(
    'look at the engine',
    engine.info(),
  );
  const { Driver: driver = 'an unknown one' } = info;
  if (limiting.has(driver)) return null;
  const [, files] = (info.DriverStatus ?? []).find(([name]) => name === 'Backing Filesystem') ?? [];
  if (driver === 'overlay2' && files === 'xfs') return null;
  return `the storage driver is ${driver}${files === undefined ? '' : ` on ${files}`}`;
}

function warnOnce(reason: string, log: Log): void {
  if (told.has(reason)) return;
  told.add(reason);
  log.warn(
    { reason },
    'terminal.container_disk is not enforced: Docker can do it with overlay2 on xfs mounted with pquota, btrfs or zfs.',
  );
}
