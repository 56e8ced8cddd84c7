import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { z } from 'zod';
import { GatewayError } from '../../src/errors.ts';
import { type CloudClient, CloudError, type CloudService } from './cloud-http.ts';
import { jsonOf, readAnswer } from './cloud-json.ts';
import { tarFile } from './tar-file.ts';

/** Vercel's documented API for sandboxes (version 2) as far as it is used. */
export const vercelUrl = 'https://vercel.com/api';

const compress = promisify(gzip);
const where =
  'Make a token at vercel.com/account/tokens and set VERCEL_TOKEN, VERCEL_TEAM_ID and VERCEL_PROJECT_ID in <home>/.env; or run `vercel link` and `vercel env pull` and set VERCEL_OIDC_TOKEN.';

export interface VercelAccount {
  service: CloudService;
  teamId: string;
  projectId: string;
}

/** The access token with its two ids where all are set, else the OIDC token, which holds both ids. */
export function vercelAccount(env: Readonly<Record<string, string | undefined>>): VercelAccount {
  const baseUrl = (env['VERCEL_API_URL'] || vercelUrl).replace(/\/+$/, '');
  const named = ['VERCEL_TOKEN', 'VERCEL_TEAM_ID', 'VERCEL_PROJECT_ID'] as const;
  const missing = named.filter((name) => !env[name]);
  const oidc = env['VERCEL_OIDC_TOKEN'] ?? '';
  if (missing.length > 0 && oidc === '') {
    const text =
      missing.length === named.length
        ? 'neither VERCEL_TOKEN nor VERCEL_OIDC_TOKEN is set'
        : `${missing.join(' and ')} ${missing.length === 1 ? 'is' : 'are'} not set`;
    throw new GatewayError('environment_refused', `Vercel needs a credential: ${text}.`, { mend: where });
  }
  if (missing.length === 0) {
    const [token = '', teamId = '', projectId = ''] = named.map((name) => env[name]);
    return { service: serviceOf(baseUrl, token, 'VERCEL_TOKEN'), teamId, projectId };
  }
  const { owner_id: teamId, project_id: projectId } = claimsOf(oidc);
  return { service: serviceOf(baseUrl, oidc, 'VERCEL_OIDC_TOKEN'), teamId, projectId };
}

function serviceOf(baseUrl: string, token: string, credential: string): CloudService {
  return {
    ...{ name: 'Vercel', baseUrl, token, credential },
    mends: {
      unauthorized: `The token is wrong, revoked or has expired. ${where}`,
      forbidden: 'Give the token access to the team of VERCEL_TEAM_ID and the project of VERCEL_PROJECT_ID.',
      quota: 'Stop or delete sandboxes, or raise the plan, at vercel.com → Usage and Billing.',
      unreachable: `Check the network, and VERCEL_API_URL if you set it (default ${vercelUrl}).`,
    },
  };
}

const claimsShape = z.object({ owner_id: z.string(), project_id: z.string(), exp: z.number().optional() });

function claimsOf(token: string): z.infer<typeof claimsShape> {
  const text = Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8');
  const claims = claimsShape.safeParse(jsonOf(text)).data;
  const problem =
    claims === undefined
      ? 'is not a token of a project'
      : (claims.exp ?? Infinity) * 1_000 < Date.now()
        ? 'has expired'
        : null;
  if (claims !== undefined && problem === null) return claims;
  throw new GatewayError('environment_refused', `VERCEL_OIDC_TOKEN ${problem}.`, {
    mend: 'Run `vercel env pull` in the linked folder and set it again (it lasts 12 hours), or use VERCEL_TOKEN.',
  });
}

const sessionShape = z.object({
  id: z.string(),
  status: z.string(),
  /** Milliseconds, as are all times. */
  timeout: z.number(),
  startedAt: z.number().optional(),
  createdAt: z.number(),
});
export type VercelSession = z.infer<typeof sessionShape>;

const sandboxShape = z.object({
  name: z.string(),
  status: z.string(),
  persistent: z.boolean(),
  runtime: z.string().optional(),
  currentSessionId: z.string(),
  currentSnapshotId: z.string().optional(),
  tags: z.record(z.string(), z.string()).optional(),
});
export type VercelSandbox = z.infer<typeof sandboxShape>;

const bothShape = z.object({ sandbox: sandboxShape, session: sessionShape });
const pageShape = z.object({
  sandboxes: z.array(sandboxShape),
  pagination: z.object({ next: z.string().nullable() }),
});
const stoppedShape = z.object({
  sandbox: sandboxShape.optional(),
  snapshot: z.object({ id: z.string() }).optional(),
});

export interface CreateVercelSandbox {
  name: string;
  persistent: boolean;
  runtime: string;
  timeout: number;
  resources: { vcpus: number };
  tags: Readonly<Record<string, string>>;
  source?: { type: 'snapshot'; snapshotId: string };
}

const slowMs = 120_000;

export function createVercelApi(client: CloudClient, { teamId, projectId }: VercelAccount) {
  const named = (name: string) => `/v2/sandboxes/${encodeURIComponent(name)}`;
  const inSession = (id: string, act: string) => `/v2/sandboxes/sessions/${encodeURIComponent(id)}/${act}`;
  const ofTeam = { teamId };
  const ofProject = { teamId, projectId };

  return {
    async list(tag: string): Promise<VercelSandbox[]> {
      const found: VercelSandbox[] = [];
      let cursor: string | null = null;
      do {
        const query: Record<string, string> = {
          ...{ teamId, project: projectId, tags: tag },
          ...(cursor !== null && { cursor }),
        };
        const page = read(pageShape, await client.ask('list sandboxes', '/v2/sandboxes', { query }));
        found.push(...page.sandboxes);
        cursor = page.pagination.next;
      } while (cursor !== null);
      return found;
    },
    /** With `resume` a stopped sandbox is started from its snapshot. */
    async get(name: string, resume: boolean) {
      const query = { ...ofProject, ...(resume && { resume: 'true' }) };
      const text = await client.ask('look at the sandbox', named(name), { query, limitMs: slowMs });
      return read(bothShape, text);
    },
    async create(wanted: CreateVercelSandbox) {
      const json = { ...wanted, projectId };
      const request = { method: 'POST', query: ofTeam, json, limitMs: slowMs } as const;
      return read(bothShape, await client.ask('create a sandbox', '/v2/sandboxes', request));
    },
    async tag(name: string, tags: Readonly<Record<string, string>>): Promise<void> {
      await client.ask('tag the sandbox', named(name), { method: 'PATCH', query: ofProject, json: { tags } });
    },
    async remove(name: string): Promise<void> {
      await client.ask('delete the sandbox', named(name), {
        method: 'DELETE',
        query: ofProject,
        limitMs: slowMs,
      });
    },
    /** Resolves with the snapshot in which a persistent sandbox's files are now, if it is known yet. */
    async stop(sessionId: string): Promise<string | null> {
      const request = { method: 'POST', query: ofTeam, limitMs: slowMs } as const;
      const text = await client.ask('stop the sandbox', inSession(sessionId, 'stop'), request);
      const { snapshot, sandbox } = read(stoppedShape, text);
      return snapshot?.id ?? sandbox?.currentSnapshotId ?? null;
    },
    async extend(sessionId: string, durationMs: number): Promise<VercelSession> {
      const request = { method: 'POST', query: ofTeam, json: { duration: durationMs } } as const;
      const text = await client.ask('extend the time', inSession(sessionId, 'extend-timeout'), request);
      return read(z.object({ session: sessionShape }), text).session;
    },
    async execute(
      sessionId: string,
      script: string,
      args: readonly string[],
      { limitMs, signal }: { limitMs: number; signal?: AbortSignal },
    ): Promise<string> {
      const json = {
        ...{ command: 'sh', args: ['-c', script, 'sh', ...args], env: {}, sudo: false },
        ...{ wait: true, logs: true, timeout: limitMs },
      };
      const text = await client.ask('run a command', inSession(sessionId, 'cmd'), {
        ...{
          method: 'POST',
          query: ofTeam,
          json,
          limitMs: limitMs + 5_000,
          check: (answer) => void printedBy(answer),
        },
        ...(signal !== undefined && { signal }),
      });
      return printedBy(text);
    },
    async upload(sessionId: string, path: string, data: Uint8Array): Promise<void> {
      await client.ask('write a file', inSession(sessionId, 'fs/write'), {
        ...{ method: 'POST', query: ofTeam, limitMs: slowMs },
        headers: { 'content-type': 'application/gzip', 'x-cwd': '/' },
        body: await compress(tarFile(path.replace(/^\/+/, ''), data)),
      });
    },
  };
}

export type VercelApi = ReturnType<typeof createVercelApi>;

const lineShape = z.union([
  z.object({ stream: z.enum(['stdout', 'stderr']), data: z.string() }),
  z.object({ stream: z.literal('error'), data: z.object({ code: z.string(), message: z.string() }) }),
  z.object({ command: z.object({ exitCode: z.number().nullable() }) }),
]);

/** What a command's stream of lines holds. Throws, as for a lost connection, when it ends before the command did. */
function printedBy(text: string): string {
  let printed = '';
  let hasEnded = false;
  for (const row of text.split('\n')) {
    const line = row === '' ? undefined : lineShape.safeParse(jsonOf(row)).data;
    if (line === undefined) continue;
    if ('command' in line) hasEnded = line.command.exitCode !== null;
    else if (line.stream === 'error') throw cutOff(line.data.code);
    else printed += line.data;
  }
  if (!hasEnded) throw cutOff('the stream ended early');
  return printed;
}

const cutOff = (reason: string) =>
  new CloudError(null, `Vercel broke off the answer to a command: ${reason}`, { retryable: true });

const read = <T>(shape: z.ZodType<T>, text: string): T =>
  readAnswer({ name: 'Vercel', mend: 'Unset VERCEL_API_URL if you set it.' }, shape, text);
