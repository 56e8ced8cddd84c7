import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { createMachine, type Machine } from '../../support/machine.ts';
import { route, type StrictAnswer, type StrictApi, startStrictApi } from '../strict-api.ts';

/**
 * Daytona's API as its reference describes it, as far as the backend uses it: sandboxes, and the toolbox in each.
 * Sandboxes are folders of this machine in which commands really run.
 */
export interface DaytonaEmulator extends StrictApi {
  /** For DAYTONA_API_URL. */
  apiUrl: string;
  sandboxes: Map<string, EmulatedSandbox>;
  /** As Daytona does on its own: after a time-out, an eviction, a press in the dashboard. */
  stopSandbox(id: string): Promise<void>;
  destroySandbox(id: string): Promise<void>;
  stop(): Promise<void>;
}

export interface EmulatedSandbox {
  id: string;
  name: string;
  state: string;
  labels: Record<string, string>;
  created: z.infer<typeof createShape>;
  machine: Machine;
}

export const daytonaKey = 'dtn_0123456789abcdef';
export const powerlessDaytonaKey = 'dtn_powerless';

const labels = z.record(z.string(), z.string());
const none = z.strictObject({});

/** API reference: CreateSandbox, without what the backend has no use for. */
const createShape = z.strictObject({
  name: z.string().max(63),
  snapshot: z.string().optional(),
  buildInfo: z.strictObject({ dockerfileContent: z.string().regex(/^FROM \S+\n$/) }).optional(),
  labels,
  cpu: z.int().positive().optional(),
  memory: z.int().positive().optional(),
  disk: z.int().positive().max(10).optional(),
  target: z.string().optional(),
  autoStopInterval: z.int().nonnegative(),
});

export async function startDaytonaEmulator(): Promise<DaytonaEmulator> {
  const folder = await mkdtemp(join(tmpdir(), 'emulated-daytona-'));
  const sandboxes = new Map<string, EmulatedSandbox>();
  const byIdOrName = (key = '') =>
    sandboxes.get(key) ?? [...sandboxes.values()].find(({ name }) => name === key) ?? null;

  const wire = ({ id, name, state, labels: own, created }: EmulatedSandbox) => ({
    ...{ id, name, state, labels: own, organizationId: 'org', user: 'daytona', env: {}, target: 'eu' },
    ...{ public: false, networkBlockAll: false, gpu: 0 },
    ...{ cpu: created.cpu ?? 1, memory: created.memory ?? 1, disk: created.disk ?? 3 },
    toolboxProxyUrl: `${api.url}/toolbox`,
  });

  async function onSandbox(
    key: string | undefined,
    act: (sandbox: EmulatedSandbox) => Promise<StrictAnswer>,
  ): Promise<StrictAnswer> {
    const sandbox = byIdOrName(key);
    if (sandbox === null)
      return { status: 404, json: refusal(404, `Sandbox with ID or name ${key} not found`) };
    return act(sandbox);
  }

  /** The proxy in front of the toolboxes lets nothing through to a sandbox that does not run. */
  const onRunning = (key: string | undefined, act: (sandbox: EmulatedSandbox) => Promise<StrictAnswer>) =>
    onSandbox(key, async (sandbox) => {
      if (sandbox.state === 'started') return act(sandbox);
      return { status: 400, json: refusal(400, 'bad request: sandbox is not running') };
    });

  async function stopSandbox(id: string): Promise<void> {
    const sandbox = sandboxes.get(id);
    if (sandbox === undefined) return;
    sandbox.state = 'stopping';
    await sandbox.machine.stop();
    sandbox.state = 'stopped';
  }

  async function destroySandbox(id: string): Promise<void> {
    const sandbox = sandboxes.get(id);
    sandboxes.delete(id);
    await sandbox?.machine.remove();
  }

  async function create(body: z.infer<typeof createShape>): Promise<StrictAnswer> {
    if (byIdOrName(body.name) !== null) {
      return { status: 409, json: refusal(409, `Sandbox with name ${body.name} already exists`) };
    }
    if ((body.snapshot === undefined) === (body.buildInfo === undefined)) {
      return { status: 400, json: refusal(400, 'give a snapshot or build information') };
    }
    const id = randomUUID();
    const machine = await createMachine(join(folder, id.slice(0, 8)));
    const isBroken = body.buildInfo?.dockerfileContent.includes('no-such-image') === true;
    const sandbox: EmulatedSandbox = {
      ...{ id, name: body.name, labels: body.labels, created: body, machine },
      state: isBroken ? 'build_failed' : 'pending_build',
    };
    sandboxes.set(id, sandbox);
    const answer = { status: 200, json: wire(sandbox) };
    // Built by the time that the client looks again.
    if (!isBroken) sandbox.state = 'started';
    return answer;
  }

  const sandboxPath = (act = '') => new RegExp(`^/api/sandbox/(?<id>[^/]+)${act}$`);
  const toolboxPath = (act: string) => new RegExp(`^/toolbox/(?<id>[^/]+)${act}$`);
  const api = await startStrictApi({
    tokens: new Map([
      [daytonaKey, 'ok'],
      [powerlessDaytonaKey, 'forbidden'],
    ]),
    refusal,
    routes: [
      route({
        ...{ name: 'list', method: 'GET', path: /^\/api\/sandbox$/ },
        query: z.strictObject({ labels: z.string(), cursor: z.string().optional() }),
        // One a page, so that whoever reads the first page alone is found out.
        async answer({ query }) {
          const wanted = Object.entries(labels.parse(JSON.parse(query.labels)));
          const all = [...sandboxes.values()].filter((one) =>
            wanted.every(([key, value]) => one.labels[key] === value),
          );
          const at = Number(query.cursor ?? 0);
          const nextCursor = at + 1 < all.length ? String(at + 1) : null;
          return { status: 200, json: { items: all.slice(at, at + 1).map(wire), nextCursor } };
        },
      }),
      route({
        ...{ name: 'create', method: 'POST', path: /^\/api\/sandbox$/, query: none, body: createShape },
        answer: ({ body }) => create(body),
      }),
      route({
        ...{ name: 'get', method: 'GET', path: sandboxPath(), query: none },
        answer: ({ params }) =>
          onSandbox(params['id'], async (sandbox) => ({ status: 200, json: wire(sandbox) })),
      }),
      route({
        ...{ name: 'start', method: 'POST', path: sandboxPath('/start'), query: none },
        answer: ({ params }) =>
          onSandbox(params['id'], async (sandbox) => {
            sandbox.state = 'started';
            return { status: 200, json: wire({ ...sandbox, state: 'starting' }) };
          }),
      }),
      route({
        ...{ name: 'stop', method: 'POST', path: sandboxPath('/stop'), query: none },
        answer: ({ params }) =>
          onSandbox(params['id'], async (sandbox) => {
            await stopSandbox(sandbox.id);
            return { status: 200, json: wire(sandbox) };
          }),
      }),
      route({
        ...{ name: 'delete', method: 'DELETE', path: sandboxPath(), query: none },
        answer: ({ params }) =>
          onSandbox(params['id'], async (sandbox) => {
            await destroySandbox(sandbox.id);
            return { status: 200, json: wire({ ...sandbox, state: 'destroying' }) };
          }),
      }),
      route({
        ...{ name: 'labels', method: 'PUT', path: sandboxPath('/labels'), query: none },
        body: z.strictObject({ labels }),
        answer: ({ params, body }) =>
          onSandbox(params['id'], async (sandbox) => {
            sandbox.labels = body.labels;
            return { status: 200, json: { labels: body.labels } };
          }),
      }),
      route({
        ...{ name: 'execute', method: 'POST', path: toolboxPath('/process/execute'), query: none },
        body: z.strictObject({ command: z.string().min(1), timeout: z.int().positive() }),
        answer: ({ params, body }) =>
          onRunning(params['id'], async ({ machine }) => {
            const run = await machine.run(['bash'], { stdin: body.command, timeoutMs: body.timeout * 1_000 });
            if (run.exitCode === null)
              return { status: 408, json: refusal(408, 'command execution timeout') };
            return { status: 200, json: { exitCode: run.exitCode, result: run.output } };
          }),
      }),
      route({
        ...{ name: 'upload', method: 'POST', path: toolboxPath('/files/bulk-upload'), query: none },
        raw: 'multipart/form-data',
        answer: ({ params, request }) =>
          onRunning(params['id'], async ({ machine }) => {
            const form = await request.formData();
            const path = form.get('files[0].path');
            const file = form.get('files[0].file');
            if (typeof path !== 'string' || !(file instanceof Blob) || [...form.keys()].length !== 2) {
              return { status: 400, json: { errors: ['invalid multipart form'] } };
            }
            await machine.write(path, new Uint8Array(await file.arrayBuffer()));
            return { status: 200, json: { files: [{ path, bytes: file.size }] } };
          }),
      }),
    ],
  });

  return {
    ...api,
    apiUrl: `${api.url}/api`,
    sandboxes,
    stopSandbox,
    destroySandbox,
    async stop() {
      await api.close();
      for (const id of [...sandboxes.keys()]) await destroySandbox(id);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const refusal = (statusCode: number, message: string) => ({ statusCode, message, error: 'refused' });
