import { sleep, systemClock } from '../../src/clock.ts';
import { errorMessage, GatewayError } from '../../src/errors.ts';
import { CloudError, createCloudClient } from './cloud-http.ts';
import { cloudInstallId, cloudLabels, isOwnerAlive, ownerMark, sandboxName } from './cloud-owner.ts';
import { type CloudProvider, type CloudSandbox, createCloudEnvironment } from './cloud-place.ts';
import {
  type CreateDaytonaSandbox,
  createDaytonaApi,
  type DaytonaApi,
  type DaytonaSandbox,
  daytonaService,
} from './daytona-api.ts';
import type { Environment } from './environment.ts';
import type { OpenContext, TerminalOptions } from './options.ts';

/** A sandbox at Daytona per task, found again by its labels; stopped and started again where it is to persist. */
export async function createDaytonaEnvironment(
  options: TerminalOptions,
  context: OpenContext,
): Promise<Environment> {
  const api = createDaytonaApi(createCloudClient(daytonaService(context.env)));
  const installId = await cloudInstallId(options);
  return createCloudEnvironment(createProvider(api, installId, options, context), options, context);
}

function createProvider(
  api: DaytonaApi,
  installId: string,
  options: TerminalOptions,
  context: OpenContext,
): CloudProvider {
  const { persistent } = options.container;
  const labels = { [cloudLabels.task]: context.taskId, [cloudLabels.install]: installId };
  const owned = async () => ({
    ...labels,
    [cloudLabels.owner]: await ownerMark(),
    [cloudLabels.persistent]: String(persistent),
  });
  let attached: DaytonaSandbox | null = null;

  async function find(): Promise<DaytonaSandbox | null> {
    if (!persistent) return attached === null ? null : found(api, attached.id);
    const all = await api.list(labels);
    return all.find(({ state }) => !overStates.has(state ?? '')) ?? null;
  }

  async function make(): Promise<DaytonaSandbox> {
    const suffix = persistent ? '' : `-${process.pid.toString(36)}${Date.now().toString(36)}`;
    const plan = planSandbox(options, context);
    context.onProgress?.(`Making a sandbox at Daytona from ${plan.snapshot ?? options.daytona.image} …`);
    const name = sandboxName(installId, context, suffix);
    try {
      return await api.create({ ...plan, name, labels: await owned() });
    } catch (error) {
      // 409: an earlier try was heard although its answer was lost.
      const made = error instanceof CloudError && error.status === 409 ? await found(api, name) : null;
      if (made === null) throw error;
      return made;
    }
  }

  return {
    backend: 'daytona',
    name: 'Daytona',
    async attach() {
      let sandbox = await find();
      if (sandbox !== null && brokenStates.has(sandbox.state ?? '')) {
        context.log.warn(
          { sandbox: sandbox.id },
          'A broken sandbox at Daytona is replaced; its files are lost.',
        );
        await api.remove(sandbox.id);
        sandbox = null;
      }
      if (sandbox !== null) {
        await api.label(sandbox.id, await owned());
      }
      attached = await untilStarted(api, sandbox ?? (await make()), context);
      return sandboxOf(api, attached);
    },
    async close(keep) {
      if (attached === null) return;
      const { id } = attached;
      await gone(keep ? api.stop(id) : api.remove(id));
    },
  };
}

function sandboxOf(api: DaytonaApi, sandbox: DaytonaSandbox): CloudSandbox {
  return {
    run: (script, args, limits) => api.execute(sandbox, script, args, limits),
    upload: (path, data) => api.upload(sandbox, path, data),
    isRunning: async () => (await found(api, sandbox.id))?.state === 'started',
  };
}

/** API reference: SandboxState. */
const overStates: ReadonlySet<string> = new Set(['destroyed', 'destroying']);
const brokenStates: ReadonlySet<string> = new Set(['error', 'build_failed']);
const restingStates: ReadonlySet<string> = new Set(['stopped', 'archived', 'paused']);

const startMs = 300_000;
const pollMs = 500;
const tellEveryMs = 15_000;

/** Starts it if it rests; follows it through building and restoring. */
async function untilStarted(
  api: DaytonaApi,
  sandbox: DaytonaSandbox,
  context: OpenContext,
): Promise<DaytonaSandbox> {
  const from = Date.now();
  let toldAt = from;
  let asked = false;
  for (let current = sandbox; ; current = await api.get(current.id)) {
    const state = current.state ?? 'unknown';
    if (state === 'started') return current;
    if (brokenStates.has(state) || overStates.has(state)) throw brokenSandbox(current);
    if (restingStates.has(state) && !asked) {
      asked = true;
      context.onProgress?.('Starting the sandbox at Daytona …');
      await api.start(current.id);
      continue;
    }
    if (Date.now() - from > startMs) throw slowSandbox(state);
    if (Date.now() - toldAt > tellEveryMs) {
      toldAt = Date.now();
      context.onProgress?.(`The sandbox at Daytona is ${state.replaceAll('_', ' ')} …`);
    }
    await sleep(systemClock, pollMs);
  }
}

function brokenSandbox({ state, errorReason }: DaytonaSandbox): GatewayError {
  const reason = errorReason ?? `its state is ${state}`;
  return new GatewayError('environment_unavailable', `The sandbox at Daytona did not start: ${reason}`, {
    mend: 'Check the image in terminal.daytona_image (TERMINAL_DAYTONA_IMAGE): a public name with its tag, or snapshot:NAME.',
  });
}

function slowSandbox(state: string): GatewayError {
  return new GatewayError(
    'environment_unavailable',
    `The sandbox at Daytona did not start within ${startMs / 60_000} minutes; it is ${state}.`,
    { retryable: true, mend: 'Try again later: building an image for the first time takes long.' },
  );
}

const snapshotPrefix = 'snapshot:';
const mostDiskGib = 10;
const gib = (megabytes: number) => Math.ceil(megabytes / 1024);

/** Resources are the snapshot's own where there is one; an image takes those of the configuration. */
function planSandbox(
  { daytona: { image }, container }: TerminalOptions,
  { log, env }: OpenContext,
): Omit<CreateDaytonaSandbox, 'name' | 'labels'> {
  const target = env['DAYTONA_TARGET'] ?? '';
  // The gateway stops it when nothing has used it for its lifetime; a job in the background must not be cut off.
  const common = { autoStopInterval: 0, ...(target !== '' && { target }) };
  if (image.startsWith(snapshotPrefix)) return { ...common, snapshot: image.slice(snapshotPrefix.length) };
  const { cpus, memoryMegabytes, diskMegabytes } = container;
  const disk = gib(diskMegabytes);
  if (disk > mostDiskGib) {
    log.warn(
      { asked: disk, given: mostDiskGib },
      'Daytona gives at most 10 GiB of disk (terminal.container_disk).',
    );
  }
  return {
    ...common,
    buildInfo: { dockerfileContent: `FROM ${imageName(image)}\n` },
    ...(cpus > 0 && { cpu: Math.ceil(cpus) }),
    ...(memoryMegabytes > 0 && { memory: gib(memoryMegabytes) }),
    ...(disk > 0 && { disk: Math.min(disk, mostDiskGib) }),
  };
}

/** It becomes a line of a Dockerfile, where another line would be another instruction. */
function imageName(image: string): string {
  if (/^[\w./:@-]+$/.test(image)) return image;
  throw new GatewayError('environment_refused', 'terminal.daytona_image is not the name of an image.', {
    mend: 'Give a name such as debian:12, or snapshot:NAME.',
  });
}

async function found(api: DaytonaApi, id: string): Promise<DaytonaSandbox | null> {
  return api.get(id).catch((error) => {
    if (error instanceof CloudError && error.status === 404) return null;
    throw error;
  });
}

/** What is gone already needs no closing. */
async function gone(done: Promise<void>): Promise<void> {
  await done.catch((error) => {
    if (!(error instanceof CloudError && error.status === 404)) throw error;
  });
}

/** For `doctor`: the key is there, the service answers and takes it. Nothing is made. */
export async function reachDaytona(env: OpenContext['env']): Promise<string> {
  const service = daytonaService(env);
  await createDaytonaApi(createCloudClient(service)).list({ [cloudLabels.install]: 'none' });
  return `Daytona at ${new URL(service.baseUrl).host} takes the key in ${service.credential}; \`hermes-gateway terminal try\` runs commands there.`;
}

/** Stops, or removes where it was not to persist, what killed gateways of this installation left running. */
export async function reapDaytona(
  options: TerminalOptions,
  context: Pick<OpenContext, 'env' | 'log'>,
): Promise<string[]> {
  const api = createDaytonaApi(createCloudClient(daytonaService(context.env)));
  const installId = await cloudInstallId(options);
  const reaped: string[] = [];
  for (const sandbox of await api.list({ [cloudLabels.install]: installId })) {
    const isKept = sandbox.labels?.[cloudLabels.persistent] === 'true';
    const rests = restingStates.has(sandbox.state ?? '') || overStates.has(sandbox.state ?? '');
    if ((isKept && rests) || (await isOwnerAlive(sandbox.labels?.[cloudLabels.owner]))) continue;
    try {
      await gone(isKept ? api.stop(sandbox.id) : api.remove(sandbox.id));
      reaped.push(sandbox.name ?? sandbox.id);
    } catch (error) {
      context.log.warn(
        { sandbox: sandbox.id, error: errorMessage(error) },
        'A leftover sandbox was not closed.',
      );
    }
  }
  return reaped;
}
