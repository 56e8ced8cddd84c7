import { z } from 'zod';
import { GatewayError } from '../../src/errors.ts';
import type { Log } from '../../src/log.ts';
import type { PlatformRoute, PlatformSink } from '../platform.ts';
import { assetRoutes } from './assets.ts';
import type { Chats } from './chats.ts';
import type { WebFiles } from './files.ts';
import { pressRequest, saidRequest, type WebInbound } from './inbound.ts';
import { chatIdShape } from './message.ts';

export interface RouteOptions {
  /** Null lets a request go on; otherwise the answer to give instead. */
  admit(request: Request): Response | null;
  /** Null while the gateway does not take events. */
  sink(): PlatformSink | null;
  /** Opens the event stream of a chat for a page that saw all up to `revision`. */
  follow(chatId: string, revision: number): Promise<Response>;
  inbound: WebInbound;
  chats: Chats;
  files: WebFiles;
  maxFileBytes: number;
  log: Log;
}

const inlineTypes = /^(?:image|audio|video)\//;

/** Everything that the page asks for. Every route is for the gateway's owner alone. */
export function createRoutes(options: RouteOptions): PlatformRoute[] {
  const { inbound, chats, files } = options;
  const connected = () => {
    const sink = options.sink();
    if (sink === null) throw new GatewayError('platform_unreachable', 'The gateway is starting or stopping.');
    return sink;
  };

  const routes: PlatformRoute[] = [
    ...assetRoutes(),
    {
      method: 'GET',
      path: '/web/events',
      async handle(request) {
        const { searchParams } = new URL(request.url);
        const seen = request.headers.get('last-event-id') ?? searchParams.get('since') ?? '0';
        return options.follow(
          chatIdShape.parse(searchParams.get('chat')),
          z.coerce.number().int().parse(seen),
        );
      },
    },
    {
      method: 'POST',
      path: '/web/messages',
      async handle(request) {
        await inbound.say(saidRequest.parse(await request.json()), connected());
        return Response.json({});
      },
    },
    {
      method: 'POST',
      path: '/web/presses',
      handle: async (request) =>
        Response.json(await inbound.press(pressRequest.parse(await request.json()), connected())),
    },
    {
      method: 'POST',
      path: '/web/chats/remove',
      async handle(request) {
        await chats.remove(z.object({ chatId: chatIdShape }).parse(await request.json()).chatId);
        return Response.json({});
      },
    },
    {
      method: 'POST',
      path: '/web/files',
      maxBodyBytes: options.maxFileBytes,
      async handle(request) {
        const name = new URL(request.url).searchParams.get('name') ?? 'file';
        return Response.json(await files.save(request.body, name));
      },
    },
    { method: 'GET', path: '/web/files', handle: (request) => sendFile(files, request) },
  ];
  return routes.map((route) => ({ ...route, handle: guarded(route, options) }));
}

function guarded({ path, handle }: PlatformRoute, { admit, log }: RouteOptions): PlatformRoute['handle'] {
  return async (request) => {
    const refused = admit(request);
    if (refused !== null) return refused;
    try {
      return await handle(request);
    } catch (error) {
      if (error instanceof z.ZodError || error instanceof SyntaxError) {
        return Response.json({ error: `The request is malformed: ${error.message}` }, { status: 400 });
      }
      if (!(error instanceof GatewayError)) throw error;
      log.warn({ err: error, path }, 'A request of the web chat was refused');
      const status = error.code === 'usage' ? 400 : 503;
      return Response.json({ error: error.message, mend: error.mend }, { status });
    }
  };
}

async function sendFile(files: WebFiles, request: Request): Promise<Response> {
  const { searchParams } = new URL(request.url);
  const file = await files.describe(searchParams.get('id') ?? '', searchParams.get('name') ?? 'file');
  if (file === null) return Response.json({ error: 'This file is not kept any more.' }, { status: 404 });
  const disposition = inlineTypes.test(file.mimeType) ? 'inline' : 'attachment';
  return new Response(files.open(file), {
    headers: {
      'content-type': file.mimeType,
      'content-length': String(file.bytes),
      'content-disposition': `${disposition}; filename*=UTF-8''${encodeURIComponent(file.name)}`,
      // A file is someone else's work: it runs no script and reaches nothing, even when opened on its own.
      'content-security-policy': "sandbox; default-src 'none'",
      'cache-control': 'private, max-age=3600',
    },
  });
}
