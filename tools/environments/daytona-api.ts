import { z } from 'zod';
import { GatewayError } from '../../src/errors.ts';
import type { CloudClient, CloudService } from './cloud-http.ts';
import { readAnswer } from './cloud-json.ts';
import { quoted } from './spool-transport.ts';

/** Daytona's documented API as far as it is used: sandboxes, and the toolbox inside of each. */
export const daytonaUrl = 'https://app.daytona.io/api';

export function daytonaService(env: Readonly<Record<string, string | undefined>>): CloudService {
  const token = env['DAYTONA_API_KEY'] ?? '';
  const where = 'Make a key at app.daytona.io → Keys and set DAYTONA_API_KEY in <home>/.env.';
  if (token === '') {
    throw new GatewayError('environment_refused', 'Daytona needs a key: DAYTONA_API_KEY is not set.', {
      mend: where,
    });
  }
  return {
    name: 'Daytona',
    baseUrl: (env['DAYTONA_API_URL'] || daytonaUrl).replace(/\/+$/, ''),
    token,
    credential: 'DAYTONA_API_KEY',
    mends: {
      unauthorized: `The key is wrong, revoked or of another server than DAYTONA_API_URL. ${where}`,
      forbidden:
        'Make a key with the rights write:sandboxes and delete:sandboxes, and set DAYTONA_API_KEY to it.',
      quota: 'Stop or delete sandboxes, or raise the limits, at app.daytona.io → Limits and Billing.',
      unreachable: `Check the network, and DAYTONA_API_URL if the server is your own (default ${daytonaUrl}).`,
    },
  };
}

/** API reference: Sandbox. Only what is read; more fields may come. */
const sandboxShape = z.object({
  id: z.string(),
  name: z.string().optional(),
  state: z.string().optional(),
  errorReason: z.string().nullish(),
  labels: z.record(z.string(), z.string()).optional(),
  toolboxProxyUrl: z.string().optional(),
});
export type DaytonaSandbox = z.infer<typeof sandboxShape>;

const pageShape = z.union([
  z.object({ items: z.array(sandboxShape), nextCursor: z.string().nullish() }),
  // Servers before the listing came in pages.
  z.array(sandboxShape).transform((items) => ({ items, nextCursor: null })),
]);
const proxyShape = z.object({ url: z.string() });
/** `code` is what older toolboxes call the exit code. */
const executedShape = z.object({
  exitCode: z.number().optional(),
  code: z.number().optional(),
  result: z.string().nullish(),
});

export interface CreateDaytonaSandbox {
  name: string;
  labels: Readonly<Record<string, string>>;
  snapshot?: string;
  buildInfo?: { dockerfileContent: string };
  cpu?: number;
  /** GiB, as is `disk`. */
  memory?: number;
  disk?: number;
  /** The region. Default: the organisation's. */
  target?: string;
  /** Minutes; 0: never. */
  autoStopInterval: number;
}

const createMs = 120_000;

export function createDaytonaApi(client: CloudClient) {
  const path = (id: string, act = '') => `/sandbox/${encodeURIComponent(id)}${act}`;

  async function toolbox({ id, toolboxProxyUrl }: DaytonaSandbox): Promise<string> {
    const url =
      toolboxProxyUrl ??
      read(proxyShape, await client.ask('find the toolbox', path(id, '/toolbox-proxy-url'))).url;
    return `${url.replace(/\/+$/, '')}/${encodeURIComponent(id)}`;
  }

  return {
    /** Those with all of the labels. */
    async list(labels: Readonly<Record<string, string>>): Promise<DaytonaSandbox[]> {
      const found: DaytonaSandbox[] = [];
      let cursor: string | null = null;
      do {
        const query: Record<string, string> = {
          labels: JSON.stringify(labels),
          ...(cursor !== null && { cursor }),
        };
        const page = read(pageShape, await client.ask('list sandboxes', '/sandbox', { query }));
        found.push(...page.items);
        cursor = page.nextCursor ?? null;
      } while (cursor !== null);
      return found;
    },
    get: async (id: string) => read(sandboxShape, await client.ask('look at the sandbox', path(id))),
    async create(wanted: CreateDaytonaSandbox): Promise<DaytonaSandbox> {
      const request = { method: 'POST', json: wanted, limitMs: createMs } as const;
      return read(sandboxShape, await client.ask('create a sandbox', '/sandbox', request));
    },
    async start(id: string): Promise<void> {
      await client.ask('start the sandbox', path(id, '/start'), { method: 'POST', limitMs: createMs });
    },
    async stop(id: string): Promise<void> {
      await client.ask('stop the sandbox', path(id, '/stop'), { method: 'POST' });
    },
    async remove(id: string): Promise<void> {
      await client.ask('delete the sandbox', path(id), { method: 'DELETE' });
    },
    async label(id: string, labels: Readonly<Record<string, string>>): Promise<void> {
      await client.ask('label the sandbox', path(id, '/labels'), { method: 'PUT', json: { labels } });
    },
    /** Toolbox: process/execute. Both streams come as one text. */
    async execute(
      sandbox: DaytonaSandbox,
      script: string,
      args: readonly string[],
      { limitMs, signal }: { limitMs: number; signal?: AbortSignal },
    ): Promise<string> {
      const timeout = Math.ceil(limitMs / 1_000);
      const text = await client.ask('run a command', `${await toolbox(sandbox)}/process/execute`, {
        method: 'POST',
        json: { command: commandLine(script, args), timeout },
        limitMs: limitMs + 5_000,
        ...(signal !== undefined && { signal }),
      });
      return read(executedShape, text).result ?? '';
    },
    /** Toolbox: files/bulk-upload. Makes parent folders. */
    async upload(sandbox: DaytonaSandbox, file: string, data: Uint8Array): Promise<void> {
      const body = new FormData();
      body.append('files[0].path', file);
      body.append('files[0].file', new Blob([Uint8Array.from(data)]), 'data');
      await client.ask('write a file', `${await toolbox(sandbox)}/files/bulk-upload`, {
        method: 'POST',
        body,
        limitMs: 120_000,
      });
    },
  };
}

export type DaytonaApi = ReturnType<typeof createDaytonaApi>;

/**
 * Newer toolboxes give the line to a shell's standard input, older ones split it into words by quotes alone. Base64
 * in one pair of quotes means the same to both; to the older ones the redirection is a word that nothing reads.
 */
function commandLine(script: string, args: readonly string[]): string {
  const text = Buffer.from(`set -- ${quoted(args)}\n${script}`).toString('base64');
  return `sh -c 'eval "$(printf %s ${text} | base64 -d)"' </dev/null`;
}

const read = <T>(shape: z.ZodType<T>, text: string): T =>
  readAnswer({ name: 'Daytona', mend: 'Check DAYTONA_API_URL: it ends in /api.' }, shape, text);
