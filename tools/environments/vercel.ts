import { join } from 'node:path';
import { sleep, systemClock } from '../../src/clock.ts';
import { errorMessage, GatewayError } from '../../src/errors.ts';
import { CloudError, createCloudClient } from './cloud-http.ts';
import { cloudInstallId, cloudLabels, isOwnerAlive, ownerMark, sandboxName } from './cloud-owner.ts';
import { type CloudProvider, type CloudSandbox, createCloudEnvironment } from './cloud-place.ts';
import type { Environment } from './environment.ts';
import type { OpenContext, TerminalOptions } from './options.ts';
import { createSnapshotBook, type SnapshotBook } from './snapshot-book.ts';
import {
  type CreateVercelSandbox,
  createVercelApi,
  type VercelApi,
  type VercelSession,
  vercelAccount,
} from './vercel-api.ts';

/** A sandbox at Vercel per task, found again by its name; its files last in snapshots where it is to persist. */
export async function createVercelEnvironment(
  options: TerminalOptions,
  context: OpenContext,
): Promise<Environment> {
  const account = vercelAccount(context.env);
  const api = createVercelApi(createCloudClient(account.service), account);
  const plan = planSandbox(options, context);
  const installId = await cloudInstallId(options);
  const book = createSnapshotBook(join(options.sandboxFolder, 'vercel_sandbox_snapshots.json'));
  return createCloudEnvironment(createProvider({ api, plan, installId, book }, context), options, context);
}

type Plan = Pick<CreateVercelSandbox, 'persistent' | 'runtime' | 'timeout' | 'resources'>;

interface Means {
  api: VercelApi;
  plan: Plan;
  installId: string;
  book: SnapshotBook;
}

function createProvider({ api, plan, installId, book }: Means, context: OpenContext): CloudProvider {
  const { persistent } = plan;
  const suffix = persistent ? '' : `-${process.pid.toString(36)}${Date.now().toString(36)}`;
  const name = sandboxName(installId, context, suffix);
  let attached: VercelSession | null = null;

  const tags = async () => ({
    [cloudLabels.task]: context.taskId,
    [cloudLabels.install]: installId,
    [cloudLabels.owner]: await ownerMark(),
    [cloudLabels.persistent]: String(persistent),
  });

  async function resume(): Promise<VercelSession | null> {
    try {
      const { sandbox, session } = await whenSettled(() => api.get(name, true));
      if (sandbox.runtime !== undefined && sandbox.runtime !== plan.runtime) {
        context.log.warn(
          { runs: sandbox.runtime, wanted: plan.runtime },
          'terminal.vercel_runtime counts for new sandboxes; this one keeps what it was made with.',
        );
      }
      await api.tag(name, await tags());
      return session;
    } catch (error) {
      const status = error instanceof CloudError ? error.status : null;
      // 410: the sandbox is known, but the snapshot with its files is not.
      if (status === 410) await removed(api, name);
      else if (status !== 404) throw error;
      return null;
    }
  }

  /** From the last snapshot known here, else from nothing. */
  async function make(): Promise<VercelSession> {
    context.onProgress?.('Making a sandbox at Vercel …');
    const wanted = { ...plan, name, tags: await tags() };
    const snapshotId = persistent ? await book.get(name) : null;
    if (snapshotId !== null) {
      try {
        return (await api.create({ ...wanted, source: { type: 'snapshot', snapshotId } })).session;
      } catch (error) {
        if (!(error instanceof CloudError) || ![400, 404, 410, 422].includes(error.status ?? 0)) throw error;
        context.log.warn(
          { error: errorMessage(error) },
          'A snapshot at Vercel is gone; the sandbox starts empty.',
        );
        context.onProgress?.('The files of the last sandbox at Vercel are gone; a new one starts empty.');
        await book.set(name, null);
      }
    }
    try {
      return (await api.create(wanted)).session;
    } catch (error) {
      // 409: an earlier try was heard although its answer was lost.
      if (!(error instanceof CloudError && error.status === 409)) throw error;
      return (await api.get(name, true)).session;
    }
  }

  return {
    backend: 'vercel_sandbox',
    name: 'Vercel',
    async attach() {
      const found = persistent || attached !== null ? await resume() : null;
      attached = await untilRunning(api, name, found ?? (await make()));
      return sandboxOf(api, name, attached, plan.timeout, context);
    },
    async close(keep) {
      if (attached === null) return;
      if (!keep) return removed(api, name);
      const snapshotId = await api.stop(attached.id).catch((error) => {
        // 404, 410: it has ended already, and Vercel has made its snapshot.
        if (error instanceof CloudError && (error.status === 404 || error.status === 410)) return null;
        throw error;
      });
      if (snapshotId !== null) await book.set(name, snapshotId);
    },
  };
}

const settleMs = 30_000;
const pollMs = 500;

/** 422: it is stopping or being saved, and can be resumed when that is done. */
async function whenSettled<T>(act: () => Promise<T>): Promise<T> {
  for (const from = Date.now(); ; await sleep(systemClock, pollMs)) {
    try {
      return await act();
    } catch (error) {
      const passes = error instanceof CloudError && error.status === 422;
      if (!passes || Date.now() - from > settleMs) throw error;
    }
  }
}

async function untilRunning(api: VercelApi, name: string, first: VercelSession): Promise<VercelSession> {
  const from = Date.now();
  for (let session = first; ; session = (await api.get(name, false)).session) {
    if (session.status === 'running') return session;
    if (session.status !== 'pending' || Date.now() - from > settleMs) {
      throw new GatewayError(
        'environment_unavailable',
        `The sandbox at Vercel does not start: it is ${session.status}.`,
        { retryable: true, mend: 'Try again later, or look at it at vercel.com → Sandboxes.' },
      );
    }
    await sleep(systemClock, pollMs);
  }
}

/** A session ends at its time whatever runs in it, so it is extended while it is used. */
const marginMs = 300_000;

function sandboxOf(
  api: VercelApi,
  name: string,
  { id, timeout, startedAt, createdAt }: VercelSession,
  extendMs: number,
  { log }: OpenContext,
): CloudSandbox {
  let endsAt = Math.min(Date.now(), startedAt ?? createdAt) + timeout;
  let isAsking = false;
  let isRefused = false;

  function extend(): void {
    if (isAsking || isRefused || endsAt - Date.now() > marginMs) return;
    isAsking = true;
    api
      .extend(id, extendMs)
      .then(() => {
        endsAt += extendMs;
      })
      .catch((error) => {
        // 4xx: the plan's longest session is reached. It ends at its time, and the next command resumes it.
        isRefused = error instanceof CloudError && error.status !== null && error.status < 500;
        log.warn({ error: errorMessage(error) }, 'The session at Vercel was not extended.');
      })
      .finally(() => {
        isAsking = false;
      });
  }

  return {
    run(script, args, limits) {
      extend();
      return api.execute(id, script, args, limits);
    },
    upload: (path, data) => api.upload(id, path, data),
    async isRunning() {
      try {
        const { session } = await api.get(name, false);
        return session.id === id && session.status === 'running';
      } catch (error) {
        if (error instanceof CloudError && (error.status === 404 || error.status === 410)) return false;
        throw error;
      }
    },
  };
}

const shortestMs = 300_000;
const onlyDiskMegabytes = 51_200;
const megabytesPerCpu = 2_048;

function planSandbox({ vercel, container, lifetimeMs }: TerminalOptions, { log }: OpenContext): Plan {
  const { cpus, memoryMegabytes, diskMegabytes, persistent } = container;
  if (diskMegabytes > 0 && diskMegabytes !== onlyDiskMegabytes) {
    throw new GatewayError(
      'environment_refused',
      'Vercel gives each sandbox the same disk: another size is not to be had.',
      {
        mend: `Leave terminal.container_disk out, or set it to ${onlyDiskMegabytes}.`,
      },
    );
  }
  const vcpus = Math.max(1, Math.floor(cpus));
  if (memoryMegabytes > vcpus * megabytesPerCpu) {
    log.info(
      { asked: memoryMegabytes, given: vcpus * megabytesPerCpu },
      'Vercel gives 2 GiB of memory a processor.',
    );
  }
  return {
    persistent,
    runtime: vercel.runtime,
    // Idle ones are stopped by the gateway; this is for when it is not there to do so.
    timeout: Math.max(shortestMs, 2 * lifetimeMs),
    resources: { vcpus },
  };
}

/** What is gone already needs no removing. */
async function removed(api: VercelApi, name: string): Promise<void> {
  await api.remove(name).catch((error) => {
    if (!(error instanceof CloudError && error.status === 404)) throw error;
  });
}

const restingStates: ReadonlySet<string> = new Set([
  'stopped',
  'stopping',
  'snapshotting',
  'aborted',
  'failed',
]);

/** For `doctor`: the credential is there, the service answers and takes it. Nothing is made. */
export async function reachVercel(env: OpenContext['env']): Promise<string> {
  const account = vercelAccount(env);
  const { baseUrl, credential } = account.service;
  await createVercelApi(createCloudClient(account.service), account).list(`${cloudLabels.install}:none`);
  return `Vercel at ${new URL(baseUrl).host} takes the token in ${credential}; \`hermes-gateway terminal try\` runs commands there.`;
}

/** Stops, or removes where it was not to persist, what killed gateways of this installation left running. */
export async function reapVercel(
  options: TerminalOptions,
  context: Pick<OpenContext, 'env' | 'log'>,
): Promise<string[]> {
  const account = vercelAccount(context.env);
  const api = createVercelApi(createCloudClient(account.service), account);
  const installId = await cloudInstallId(options);
  const reaped: string[] = [];
  for (const { name, status, tags = {}, currentSessionId } of await api.list(
    `${cloudLabels.install}:${installId}`,
  )) {
    const isKept = tags[cloudLabels.persistent] === 'true';
    if ((isKept && restingStates.has(status)) || (await isOwnerAlive(tags[cloudLabels.owner]))) continue;
    try {
      if (isKept) await api.stop(currentSessionId);
      else await removed(api, name);
      reaped.push(name);
    } catch (error) {
      context.log.warn({ sandbox: name, error: errorMessage(error) }, 'A leftover sandbox was not closed.');
    }
  }
  return reaped;
}
