import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { createMachine, type Machine } from '../../support/machine.ts';
import { route, type StrictAnswer, type StrictApi, startStrictApi } from '../strict-api.ts';

/**
 * Vercel's sandbox API, version 2, as its reference describes it and as far as the backend uses it: named sandboxes,
 * sessions, snapshots. Sandboxes are folders of this machine in which commands really run.
 */
export interface VercelEmulator extends StrictApi {
  /** For VERCEL_API_URL. */
  apiUrl: string;
  sandboxes: Map<string, EmulatedSandbox>;
  snapshots: Map<string, string>;
  /** As Vercel does when a session's time is over. */
  endSession(name: string): Promise<void>;
  /** As when somebody deletes it in the dashboard; its snapshots stay. */
  removeSandbox(name: string): Promise<void>;
  /** The next `times` answers to commands end before they are whole. */
  cutAnswers(times: number): void;
  stop(): Promise<void>;
}

interface EmulatedSandbox {
  name: string;
  created: z.infer<typeof createShape>;
  tags: Record<string, string>;
  folder: string;
  session: { id: string; status: string; timeout: number; startedAt: number };
  machine: Machine;
  snapshotId: string | null;
}

export const vercelToken = 'vcp_0123456789abcdef';
export const powerlessVercelToken = 'vcp_powerless';
export const vercelTeam = 'team_1';
export const vercelProject = 'prj_1';

/** A token as Vercel signs for a project; nobody here looks at the signature. */
export function oidcToken(expiresAt: number): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  return `${part({ alg: 'RS256' })}.${part({ owner_id: vercelTeam, project_id: vercelProject, exp: expiresAt })}.c2ln`;
}
export const validOidcToken = oidcToken(4_102_444_800);

const tags = z.record(z.string(), z.string());
const team = { teamId: z.literal(vercelTeam) };
const ofTeam = z.strictObject(team);
const ofProject = z.strictObject({ ...team, projectId: z.literal(vercelProject) });

const createShape = z.strictObject({
  projectId: z.literal(vercelProject),
  name: z.string().regex(/^[a-z0-9-]{1,63}$/),
  persistent: z.boolean(),
  runtime: z.enum(['node24', 'node22', 'python3.13']),
  timeout: z.int().min(300_000),
  resources: z.strictObject({ vcpus: z.int().positive() }),
  tags,
  source: z.strictObject({ type: z.literal('snapshot'), snapshotId: z.string() }).optional(),
});

const commandShape = z.strictObject({
  command: z.string(),
  args: z.array(z.string()),
  env: z.strictObject({}),
  sudo: z.literal(false),
  wait: z.literal(true),
  logs: z.literal(true),
  timeout: z.int().positive(),
});

const newId = (kind: string) => `${kind}_${randomBytes(8).toString('hex')}`;

export async function startVercelEmulator(): Promise<VercelEmulator> {
  const folder = await mkdtemp(join(tmpdir(), 'emulated-vercel-'));
  const sandboxes = new Map<string, EmulatedSandbox>();
  const snapshots = new Map<string, string>();
  let cuts = 0;

  const sessionWire = ({ session: { id, status, timeout, startedAt }, machine }: EmulatedSandbox) => ({
    ...{ id, status, timeout, startedAt, createdAt: startedAt, requestedAt: startedAt, updatedAt: startedAt },
    ...{ memory: 2048, vcpus: 1, region: 'iad1', runtime: 'node24', cwd: machine.home },
  });
  const sandboxWire = (sandbox: EmulatedSandbox) => ({
    ...{ name: sandbox.name, status: sandbox.session.status, tags: sandbox.tags, createdAt: 0, updatedAt: 0 },
    ...{ persistent: sandbox.created.persistent, runtime: sandbox.created.runtime },
    currentSessionId: sandbox.session.id,
    ...(sandbox.snapshotId !== null && { currentSnapshotId: sandbox.snapshotId }),
  });
  const both = (sandbox: EmulatedSandbox): StrictAnswer => ({
    status: 200,
    json: { sandbox: sandboxWire(sandbox), session: sessionWire(sandbox), routes: [] },
  });
  const newSession = (timeout: number) => ({
    id: newId('sess'),
    status: 'running',
    timeout,
    startedAt: Date.now(),
  });

  async function create(body: z.infer<typeof createShape>): Promise<StrictAnswer> {
    if (sandboxes.has(body.name)) return refused(409, 'conflict', `A sandbox named ${body.name} exists.`);
    const image = body.source === undefined ? undefined : snapshots.get(body.source.snapshotId);
    if (body.source !== undefined && image === undefined)
      return refused(404, 'not_found', 'Snapshot not found.');
    const place = join(folder, newId('sbx'));
    const sandbox = {
      ...{ name: body.name, created: body, tags: body.tags, folder: place, snapshotId: null },
      session: newSession(body.timeout),
      machine: await createMachine(place, image),
    };
    sandboxes.set(body.name, sandbox);
    return both({ ...sandbox, session: { ...sandbox.session, status: 'pending' } });
  }

  /** The files of a persistent one go into a snapshot, those of any other go. */
  async function end(sandbox: EmulatedSandbox): Promise<void> {
    if (sandbox.session.status !== 'running') return;
    sandbox.session.status = 'stopping';
    await sandbox.machine.stop();
    if (sandbox.created.persistent) {
      const id = newId('snap');
      const place = join(folder, id);
      await sandbox.machine.save(place);
      snapshots.set(id, place);
      sandbox.snapshotId = id;
    }
    await sandbox.machine.remove();
    sandbox.session.status = 'stopped';
  }

  async function resume(sandbox: EmulatedSandbox): Promise<StrictAnswer> {
    if (sandbox.session.status === 'running') return both(sandbox);
    if (sandbox.session.status !== 'stopped')
      return refused(422, 'sandbox_stopping', 'The sandbox is stopping.');
    const image = snapshots.get(sandbox.snapshotId ?? '');
    if (image === undefined) return refused(410, 'snapshot_not_found', 'The snapshot is gone.');
    sandbox.machine = await createMachine(sandbox.folder, image);
    sandbox.session = newSession(sandbox.created.timeout);
    return both(sandbox);
  }

  async function named(key: string | undefined, act: (sandbox: EmulatedSandbox) => Promise<StrictAnswer>) {
    const sandbox = sandboxes.get(key ?? '');
    return sandbox === undefined ? refused(404, 'not_found', 'Sandbox not found.') : act(sandbox);
  }

  async function inSession(
    key: string | undefined,
    act: (sandbox: EmulatedSandbox) => Promise<StrictAnswer>,
  ) {
    const sandbox = [...sandboxes.values()].find(({ session }) => session.id === key);
    if (sandbox === undefined) return refused(404, 'not_found', 'Session not found.');
    if (sandbox.session.status === 'running') return act(sandbox);
    return refused(410, 'sandbox_stopped', 'The session has ended.');
  }

  async function command(
    { machine }: EmulatedSandbox,
    body: z.infer<typeof commandShape>,
  ): Promise<StrictAnswer> {
    const id = newId('cmd');
    const { exitCode, output } = await machine.run([body.command, ...body.args], { timeoutMs: body.timeout });
    const lines = [
      { command: { id, name: body.command, args: body.args, exitCode: null } },
      // In two pieces, as a stream may cut it anywhere.
      { stream: 'stdout', data: output.slice(0, 7) },
      { stream: 'stdout', data: output.slice(7) },
      { command: { id, name: body.command, args: body.args, exitCode: exitCode ?? 137 } },
    ];
    const isCut = cuts > 0;
    cuts -= isCut ? 1 : 0;
    const text = lines.map((line) => `${JSON.stringify(line)}\n`).slice(0, isCut ? 2 : lines.length);
    return { status: 200, type: 'application/x-ndjson', text: text.join('') };
  }

  const namedPath = /^\/v2\/sandboxes\/(?<name>[^/]+)$/;
  const sessionPath = (act: string) => new RegExp(`^/v2/sandboxes/sessions/(?<id>[^/]+)/${act}$`);
  const api = await startStrictApi({
    tokens: new Map([
      [vercelToken, 'ok'],
      [validOidcToken, 'ok'],
      [powerlessVercelToken, 'forbidden'],
    ]),
    refusal: (status, message) => ({ error: { code: String(status), message } }),
    routes: [
      route({
        ...{ name: 'list', method: 'GET', path: /^\/v2\/sandboxes$/ },
        query: z.strictObject({
          ...team,
          project: z.literal(vercelProject),
          tags: z.string().regex(/^[^:]+:[^:]+$/),
          cursor: z.string().optional(),
        }),
        // One a page, so that whoever reads the first page alone is found out.
        async answer({ query }) {
          const [key = '', value] = query.tags.split(':');
          const all = [...sandboxes.values()].filter((one) => one.tags[key] === value);
          const at = Number(query.cursor ?? 0);
          const page = all.slice(at, at + 1).map(sandboxWire);
          const next = at + 1 < all.length ? String(at + 1) : null;
          return { status: 200, json: { sandboxes: page, pagination: { count: page.length, next } } };
        },
      }),
      route({
        ...{ name: 'create', method: 'POST', path: /^\/v2\/sandboxes$/, query: ofTeam, body: createShape },
        answer: ({ body }) => create(body),
      }),
      route({
        ...{ name: 'get', method: 'GET', path: namedPath },
        query: ofProject.extend({ resume: z.literal('true').optional() }),
        answer: ({ params, query }) =>
          named(params['name'], async (sandbox) =>
            query.resume === 'true' ? resume(sandbox) : both(sandbox),
          ),
      }),
      route({
        ...{
          name: 'tag',
          method: 'PATCH',
          path: namedPath,
          query: ofProject,
          body: z.strictObject({ tags }),
        },
        answer: ({ params, body }) =>
          named(params['name'], async (sandbox) => {
            sandbox.tags = body.tags;
            return both(sandbox);
          }),
      }),
      route({
        ...{ name: 'delete', method: 'DELETE', path: namedPath, query: ofProject },
        answer: ({ params }) =>
          named(params['name'], async (sandbox) => {
            await removeSandbox(sandbox.name);
            return { status: 200, json: { sandbox: sandboxWire(sandbox) } };
          }),
      }),
      route({
        ...{ name: 'command', method: 'POST', path: sessionPath('cmd'), query: ofTeam, body: commandShape },
        answer: ({ params, body }) => inSession(params['id'], (sandbox) => command(sandbox, body)),
      }),
      route({
        ...{ name: 'stop', method: 'POST', path: sessionPath('stop'), query: ofTeam },
        answer: ({ params }) =>
          inSession(params['id'], async (sandbox) => {
            await end(sandbox);
            const snapshot = sandbox.snapshotId === null ? {} : { snapshot: { id: sandbox.snapshotId } };
            return {
              status: 200,
              json: { session: sessionWire(sandbox), sandbox: sandboxWire(sandbox), ...snapshot },
            };
          }),
      }),
      route({
        ...{ name: 'extend', method: 'POST', path: sessionPath('extend-timeout'), query: ofTeam },
        body: z.strictObject({ duration: z.int().positive() }),
        answer: ({ params, body }) =>
          inSession(params['id'], async (sandbox) => {
            sandbox.session.timeout += body.duration;
            return { status: 200, json: { session: sessionWire(sandbox) } };
          }),
      }),
      route({
        ...{ name: 'write', method: 'POST', path: sessionPath('fs/write'), query: ofTeam },
        raw: 'application/gzip',
        answer: ({ params, request }) =>
          inSession(params['id'], async ({ machine }) => {
            if (request.headers.get('x-cwd') !== '/') return refused(400, 'bad_request', 'x-cwd is missing.');
            await unpack(Buffer.from(await request.arrayBuffer()), machine);
            return { status: 200, json: {} };
          }),
      }),
    ],
  });

  async function removeSandbox(name: string): Promise<void> {
    const sandbox = sandboxes.get(name);
    sandboxes.delete(name);
    await sandbox?.machine.remove();
  }

  return {
    ...api,
    apiUrl: api.url,
    ...{ sandboxes, snapshots, removeSandbox },
    endSession: async (name) => {
      const sandbox = sandboxes.get(name);
      if (sandbox !== undefined) await end(sandbox);
    },
    cutAnswers(times) {
      cuts = times;
    },
    async stop() {
      await api.close();
      for (const name of [...sandboxes.keys()]) await removeSandbox(name);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const refused = (status: number, code: string, message: string): StrictAnswer => ({
  status,
  json: { error: { code, message } },
});

/** By the machine's own tar, so that an archive that only we understand is found out. */
async function unpack(archive: Buffer, { folder }: Machine): Promise<void> {
  const names = await tar(['-tzf', '-'], archive);
  const strange = names.split('\n').filter((name) => name !== '' && !`/${name}`.startsWith(`${folder}/`));
  if (strange.length > 0) throw new Error(`outside of the machine: ${strange.join(', ')}`);
  await tar(['-xzf', '-', '-C', '/'], archive);
}

function tar(args: readonly string[], archive: Buffer): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = execFile('tar', args, (error, stdout) =>
      error === null ? resolve(stdout) : reject(error),
    );
    child.stdin?.end(archive);
  });
}
