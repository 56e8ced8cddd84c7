import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { App, Image, Sandbox } from 'modal';
import { errorMessage, GatewayError } from '../../src/errors.ts';
import { CloudError } from './cloud-http.ts';
import { cloudInstallId, cloudLabels, isOwnerAlive, ownerMark, sandboxName } from './cloud-owner.ts';
import { type CloudProvider, type CloudSandbox, createCloudEnvironment } from './cloud-place.ts';
import type { Environment } from './environment.ts';
import { type ModalAccount, openModalAccount } from './modal-account.ts';
import type { OpenContext, TerminalOptions } from './options.ts';
import { createSnapshotBook, type SnapshotBook } from './snapshot-book.ts';

/** A sandbox at Modal per task, found again by its name; its files last in snapshots where it is to persist. */
export async function createModalEnvironment(
  options: TerminalOptions,
  context: OpenContext,
): Promise<Environment> {
  const account = await openModalAccount(context);
  const installId = await cloudInstallId(options);
  const means = { account, installId, book: bookOf(options), options };
  return createCloudEnvironment(createProvider(means, context), options, context);
}

const appName = 'hermes-agent';
/** The longest that Modal lets one live. */
const lifeMs = 24 * 3_600_000;
/** Idle ones are stopped by the gateway; this is for when it is not there to do so. */
const idleMs = 3_600_000;
const snapshotMs = 300_000;

const bookOf = ({ sandboxFolder }: TerminalOptions) =>
  createSnapshotBook(join(sandboxFolder, 'modal_snapshots.json'));
const bookKey = (taskId: string) => `direct:${taskId}`;

interface Means {
  account: ModalAccount;
  installId: string;
  book: SnapshotBook;
  options: TerminalOptions;
}

function createProvider(means: Means, context: OpenContext): CloudProvider {
  const { account, installId, book, options } = means;
  const { client, ask } = account;
  const { persistent } = options.container;
  const name = nameOf(installId, context, persistent);
  let attached: Sandbox | null = null;

  const tags = async () => ({
    [cloudLabels.task]: context.taskId,
    [cloudLabels.install]: installId,
    [cloudLabels.owner]: await ownerMark(),
    [cloudLabels.persistent]: String(persistent),
  });

  async function resume(): Promise<Sandbox | null> {
    const found = await orNull(ask('find the sandbox', () => client.sandboxes.fromName(appName, name)));
    if (found === null || !(await isRunning(account, found))) return null;
    const wanted = await tags();
    await ask('tag the sandbox', () => found.setTags(wanted));
    return found;
  }

  /** From the last snapshot, else from the image. */
  async function make(): Promise<Sandbox> {
    const app = await appOf(account);
    const snapshotId = persistent ? await book.get(bookKey(context.taskId)) : null;
    if (snapshotId !== null) {
      try {
        context.onProgress?.('Restoring the sandbox at Modal …');
        const image = await ask('find the snapshot', () => client.images.fromId(snapshotId));
        return await create(app, image);
      } catch (error) {
        if (!(error instanceof CloudError) || ![400, 404, 409, 410].includes(error.status ?? 0)) throw error;
        context.log.warn(
          { error: errorMessage(error) },
          'A snapshot at Modal is gone; the sandbox starts from its image.',
        );
        context.onProgress?.('The files of the last sandbox at Modal are gone; a new one starts empty.');
        await book.set(bookKey(context.taskId), null);
      }
    }
    context.onProgress?.(`Making a sandbox at Modal from ${options.modal.image} …`);
    const image = client.images.fromRegistry(imageName(options.modal.image));
    await ask(`build the image ${options.modal.image}`, () => image.build(app));
    return create(app, image);
  }

  async function create(app: App, image: Image): Promise<Sandbox> {
    const { cpus, memoryMegabytes } = options.container;
    const wanted = {
      name,
      tags: await tags(),
      command: ['sleep', 'infinity'],
      timeoutMs: lifeMs,
      idleTimeoutMs: idleMs,
      ...(cpus > 0 && { cpu: cpus }),
      ...(memoryMegabytes > 0 && { memoryMiB: memoryMegabytes }),
    };
    try {
      return await ask('create a sandbox', () => client.sandboxes.create(app, image, wanted));
    } catch (error) {
      // 409: an earlier try was heard although its answer was lost.
      const made = error instanceof CloudError && error.status === 409 ? await resume() : null;
      if (made === null) throw error;
      return made;
    }
  }

  return {
    backend: 'modal',
    name: 'Modal',
    async attach() {
      const found = persistent || attached !== null ? await resume() : null;
      attached = found ?? (await make());
      return sandboxOf(account, attached);
    },
    async close(keep) {
      if (attached === null) return;
      await end(means, attached, keep ? context.taskId : null);
      attached.detach();
    },
  };
}

/** Keeps the files of a task, if one is named, and ends the sandbox. Without a snapshot it is left to its time. */
async function end({ account, book }: Means, sandbox: Sandbox, taskId: string | null): Promise<void> {
  const { ask } = account;
  if (!(await isRunning(account, sandbox))) return;
  if (taskId !== null) {
    const kept = await ask('keep the files', () => sandbox.snapshotFilesystem({ timeoutMs: snapshotMs }));
    await book.set(bookKey(taskId), kept.imageId);
  }
  await orNull(ask('end the sandbox', () => sandbox.terminate()));
}

function sandboxOf(account: ModalAccount, sandbox: Sandbox): CloudSandbox {
  const { ask } = account;
  return {
    async run(script, args, { limitMs, signal }) {
      const timeoutMs = Math.ceil(limitMs / 1_000) * 1_000;
      return ask('run a command', async () => {
        const how = { stdout: 'pipe', stderr: 'ignore', timeoutMs } as const;
        const process = await sandbox.exec(['sh', '-c', script, 'sh', ...args], how);
        return readText(process.stdout, signal);
      });
    },
    async upload(path, data) {
      await ask('write a file', async () => {
        const command = ['sh', '-c', 'mkdir -p -- "$(dirname -- "$1")" && cat >"$1"', 'sh', path];
        const process = await sandbox.exec(command, { mode: 'binary', stdout: 'ignore', stderr: 'ignore' });
        const input = process.stdin.getWriter();
        for (let from = 0; from < data.length; from += pieceBytes) {
          await input.write(data.subarray(from, from + pieceBytes));
        }
        await input.close();
        const code = await process.wait();
        if (code !== 0) throw new Error(`${path} was not written: exit code ${code}`);
      });
    },
    isRunning: () => isRunning(account, sandbox),
  };
}

const pieceBytes = 1024 * 1024;

async function readText(stream: ReadableStream<string>, signal?: AbortSignal): Promise<string> {
  const reader = stream.getReader();
  const stop = () => void reader.cancel().catch(() => undefined);
  signal?.addEventListener('abort', stop, { once: true });
  try {
    let text = '';
    for (;;) {
      const { done, value } = await reader.read();
      signal?.throwIfAborted();
      if (done) return text;
      text += value;
    }
  } finally {
    signal?.removeEventListener('abort', stop);
  }
}

async function isRunning({ ask }: ModalAccount, sandbox: Sandbox): Promise<boolean> {
  const state = await orNull(ask('look at the sandbox', async () => ({ exit: await sandbox.poll() })));
  return state !== null && state.exit === null;
}

/** What is not there is null: 404, or 410 for what has ended. */
async function orNull<T>(answer: Promise<T>): Promise<T | null> {
  return answer.catch((error) => {
    if (error instanceof CloudError && (error.status === 404 || error.status === 410)) return null;
    throw error;
  });
}

const appOf = ({ client, ask }: ModalAccount) =>
  ask('find the app', () => client.apps.fromName(appName, { createIfMissing: true }));

const longestName = 63;

/** Names are shorter than 64 characters at Modal. */
function nameOf(installId: string, context: OpenContext, persistent: boolean): string {
  const suffix = persistent ? '' : `-${process.pid.toString(36)}${Date.now().toString(36)}`;
  const name = sandboxName(installId, context, suffix);
  if (name.length <= longestName) return name;
  return `hermes-${installId}-${createHash('sha256').update(name).digest('hex').slice(0, 32)}`;
}

/** It becomes a line of a Dockerfile, where another line would be another instruction. */
function imageName(image: string): string {
  if (/^[\w./:@-]+$/.test(image)) return image;
  throw new GatewayError('environment_refused', 'terminal.modal_image is not the name of an image.', {
    mend: 'Give a name such as debian:12.',
  });
}

/** For `doctor`: the credential is there, the service answers and takes it. Nothing is made. */
export async function reachModal(context: Pick<OpenContext, 'env' | 'log'>): Promise<string> {
  const account = await openModalAccount(context);
  await orNull(account.ask('find the app', () => account.client.apps.fromName(appName)));
  return `Modal at ${account.host} takes the token of ${account.credential}; \`hermes-gateway terminal try\` runs commands there.`;
}

/** Ends what killed gateways of this installation left running; files that are to persist are kept first. */
export async function reapModal(
  options: TerminalOptions,
  context: Pick<OpenContext, 'env' | 'log'>,
): Promise<string[]> {
  const account = await openModalAccount(context);
  const means = { account, installId: await cloudInstallId(options), book: bookOf(options), options };
  const { client, ask } = account;
  const app = await orNull(ask('find the app', () => client.apps.fromName(appName)));
  if (app === null) return [];
  const tags = { [cloudLabels.install]: means.installId };
  const sandboxes = await ask('list sandboxes', () =>
    listed(client.sandboxes.list({ appId: app.appId, tags })),
  );
  const reaped: string[] = [];
  for (const sandbox of sandboxes) {
    try {
      const its = await ask('read the tags', () => sandbox.getTags());
      if (await isOwnerAlive(its[cloudLabels.owner])) continue;
      const taskId = its[cloudLabels.persistent] === 'true' ? its[cloudLabels.task] : undefined;
      await end(means, sandbox, taskId ?? null);
      reaped.push(sandbox.sandboxId);
    } catch (error) {
      context.log.warn(
        { sandbox: sandbox.sandboxId, error: errorMessage(error) },
        'A leftover sandbox was not closed.',
      );
    }
  }
  return reaped;
}

async function listed<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}
