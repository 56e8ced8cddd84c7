import type { IncomingMessage, ServerResponse } from 'node:http';
import { z } from 'zod';
import { readBytes } from '../emulator.ts';
import type { Faults } from './faults.ts';
import { findMessage, type World } from './world.ts';

const responsePayload = z.object({
  text: z.string().optional(),
  blocks: z.array(z.record(z.string(), z.unknown())).optional(),
  response_type: z.enum(['ephemeral', 'in_channel']).optional(),
  thread_ts: z.string().optional(),
  replace_original: z.boolean().optional(),
  delete_original: z.boolean().optional(),
});

export interface ContentRoutes {
  upload(id: string, length: number, request: IncomingMessage, response: ServerResponse): Promise<void>;
  download(id: string, request: IncomingMessage, response: ServerResponse): void;
  respond(id: string, request: IncomingMessage, response: ServerResponse): Promise<void>;
  /** Makes a response URL and returns its id. */
  allowResponse(channel: string, user: string, messageTs: string | undefined): string;
  signInPage(on: boolean): void;
}

/** The HTTP routes besides the Web API: file contents both ways, and response URLs. */
export function createContentRoutes(deps: {
  world: World;
  faults: Faults;
  violations: string[];
}): ContentRoutes {
  const { world, faults, violations } = deps;
  const responses = new Map<
    string,
    { channel: string; user: string; messageTs: string | undefined; uses: number }
  >();
  let signIn = false;

  async function upload(
    id: string,
    length: number,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const file = world.files.get(id);
    const fault = faults.take('upload');
    const bytes = await readBytes(request);
    if (fault?.status !== undefined) return void response.writeHead(fault.status).end();
    if (file === undefined || bytes.length !== length) return void response.writeHead(400).end('bad length');
    file.bytes = bytes;
    file.uploaded = true;
    response.writeHead(200).end(`OK - ${bytes.length}`);
  }

  function download(id: string, request: IncomingMessage, response: ServerResponse): void {
    const file = world.files.get(id);
    const token = (request.headers.authorization ?? '').replace(/^Bearer /, '');
    const team = [...world.teams.values()].find(({ botToken }) => botToken === token);
    if (signIn || team === undefined || team.id !== file?.teamId) {
      response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' });
      return void response.end('<!DOCTYPE html><title>Sign in | Slack</title>');
    }
    response.writeHead(200, { 'content-type': file.mimetype, 'content-length': file.bytes.length });
    response.end(file.bytes);
  }

  async function respond(id: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const known = responses.get(id);
    const parsed = responsePayload.safeParse(JSON.parse((await readBytes(request)).toString('utf8')));
    // docs.slack.dev/interactivity/handling-user-interaction: five uses within 30 minutes.
    if (known === undefined || known.uses >= 5) return void response.writeHead(404).end('used_url');
    if (!parsed.success) {
      violations.push(`response_url: ${parsed.error.message}`);
      return void response.writeHead(400).end('invalid_payload');
    }
    known.uses += 1;
    const { text = '', blocks = [], replace_original: replace } = parsed.data;
    const original =
      known.messageTs === undefined ? undefined : findMessage(world, known.channel, known.messageTs);
    if (replace === true && original !== undefined) Object.assign(original, { text, blocks });
    else world.ephemerals.push({ channel: known.channel, user: known.user, text, blocks });
    response.writeHead(200).end('ok');
  }

  return {
    upload,
    download,
    respond,
    allowResponse(channel, user, messageTs) {
      const id = world.nextId('R');
      responses.set(id, { channel, user, messageTs, uses: 0 });
      return id;
    },
    signInPage(on) {
      signIn = on;
    },
  };
}
