import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { z } from 'zod';
import { createDelivery, type HttpEndpoint, type Receipt } from './delivery.ts';
import { createFaults, type Fault } from './faults.ts';
import type { MethodContext } from './method.ts';
import { loadDescriptionCheck } from './openapi.ts';
import { createUser, type SlackUserHandle } from './user.ts';
import { type Call, createWebApi, readBody } from './web-api.ts';
import {
  type ChannelType,
  createWorld,
  findMessage,
  type SlackChannel,
  type SlackTeam,
  type World,
} from './world.ts';

export const allScopes = [
  'app_mentions:read', 'assistant:write', 'channels:history', 'channels:read', 'chat:write', 'commands', 'files:read',
  'files:write', 'groups:history', 'groups:read', 'im:history', 'im:read', 'im:write', 'mpim:history', 'mpim:read',
  'reactions:read', 'reactions:write', 'users:read',
]; // biome-ignore format: a list

const responsePayload = z.object({
  text: z.string().optional(),
  blocks: z.array(z.record(z.string(), z.unknown())).optional(),
  response_type: z.enum(['ephemeral', 'in_channel']).optional(),
  thread_ts: z.string().optional(),
  replace_original: z.boolean().optional(),
  delete_original: z.boolean().optional(),
});

export interface SlackEmulator {
  /** `http://127.0.0.1:port`. */
  root: string;
  /** What `SLACK_API_ROOT` takes. */
  apiRoot: string;
  appToken: string;
  signingSecret: string;
  world: World;
  team: SlackTeam;
  calls: readonly Call[];
  receipts: readonly Receipt[];
  /** Every way in which the app broke the protocol so far. */
  violations(): string[];
  addTeam(name: string): SlackTeam;
  addUser(name: string, options?: { locale?: string; isBot?: boolean }): SlackUserHandle;
  addChannel(
    name: string,
    type: Exclude<ChannelType, 'im'>,
    members: readonly SlackUserHandle[],
    team?: SlackTeam,
  ): SlackChannel;
  fail(method: string, fault: Fault): void;
  slow(delayMs: number): void;
  dropSocket(): void;
  refreshSocket(): void;
  /** Lets the sockets die without a word: open, but deaf and mute. */
  freezeSocket(): void;
  redeliver(receipt: Receipt): void;
  hold(): void;
  release(options?: { reversed: boolean }): void;
  /** Sends events as signed requests instead of over a socket. */
  useHttp(endpoint: HttpEndpoint | undefined): void;
  connections(): number;
  /** Serves an HTML sign-in page for file downloads, as Slack does for a token without `files:read`. */
  signInPageForFiles(on: boolean): void;
  close(): Promise<void>;
}

/** A Slack workspace on loopback that the real, unmodified client talks to. */
export async function startSlackEmulator(options: { port?: number } = {}): Promise<SlackEmulator> {
  const world = createWorld();
  const faults = createFaults();
  const delivery = createDelivery();
  const triggers = new Map<string, number>();
  const responses = new Map<
    string,
    { channel: string; user: string; messageTs: string | undefined; uses: number }
  >();
  let delayMs = 0;
  let signInPage = false;
  let root = '';

  const contextOf = (team: SlackTeam): MethodContext => ({
    world,
    team,
    root,
    emit: (event) => void emit(team, event),
    socketUrl: () => `${root.replace('http', 'ws')}/link?ticket=${crypto.randomUUID()}`,
    useTrigger: (id) => {
      const madeAt = triggers.get(id);
      return triggers.delete(id) && madeAt !== undefined && Date.now() - madeAt < 3000;
    },
  });
  const emit = (team: SlackTeam, event: Record<string, unknown>): Receipt =>
    delivery.send('events_api', {
      type: 'event_callback',
      token: 'deprecated',
      team_id: team.id,
      api_app_id: 'A0EMULATOR',
      event,
      event_id: world.nextId('Ev'),
      event_time: Math.floor(Date.now() / 1000),
      authorizations: [{ enterprise_id: null, team_id: team.id, user_id: team.botUserId, is_bot: true }],
    });
  const api = createWebApi({
    world,
    faults,
    check: loadDescriptionCheck(),
    appToken: 'xapp-1-A0EMULATOR-1-emulated',
    delayMs: () => delayMs,
    contextOf,
  });

  const server = createServer((request, response) => {
    route(request, response).catch((error: unknown) => {
      api.violations.push(String(error));
      response.writeHead(500).end();
    });
  });

  async function route(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', root);
    const [, first = '', second = '', third = ''] = url.pathname.split('/');
    if (first === 'api') return api.handle(second, request, response);
    if (first === 'upload') return upload(third, Number(url.searchParams.get('length')), request, response);
    if (first === 'files-pri') return download(second, request, response);
    if (first === 'respond') return respond(second, request, response);
    response.writeHead(404).end();
  }

  async function upload(
    id: string,
    length: number,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const file = world.files.get(id);
    const fault = faults.take('upload');
    const bytes = await readBody(request);
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
    if (signInPage || team === undefined || team.id !== file?.teamId) {
      response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' });
      return void response.end('<!DOCTYPE html><title>Sign in | Slack</title>');
    }
    response.writeHead(200, { 'content-type': file.mimetype, 'content-length': file.bytes.length });
    response.end(file.bytes);
  }

  async function respond(id: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const known = responses.get(id);
    const parsed = responsePayload.safeParse(JSON.parse((await readBody(request)).toString('utf8')));
    // docs.slack.dev/interactivity/handling-user-interaction: five uses within 30 minutes.
    if (known === undefined || known.uses >= 5) return void response.writeHead(404).end('used_url');
    if (!parsed.success) {
      api.violations.push(`response_url: ${parsed.error.message}`);
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

  server.on('upgrade', (request, socket, head) => {
    if (faults.take('socket') !== undefined) return void socket.destroy();
    delivery.sockets.handleUpgrade(request, socket, head, (ws) =>
      delivery.sockets.emit('connection', ws, request),
    );
  });
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, '127.0.0.1', resolve));
  const address = server.address();
  root = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;

  const addTeam = (name: string): SlackTeam => {
    const team: SlackTeam = {
      id: world.nextId('T'),
      name,
      botToken: `xoxb-${world.teams.size + 1}-emulated-token`,
      botUserId: world.nextId('U'),
      botId: world.nextId('B'),
      scopes: [...allScopes],
    };
    world.teams.set(team.id, team);
    world.users.set(team.botUserId, {
      id: team.botUserId,
      name: 'hermes',
      realName: 'Hermes',
      locale: 'en-US',
      isBot: true,
    });
    return team;
  };
  const team = addTeam('Acme');

  const trigger = (userId: string): string => {
    const id = `${world.nextId('')}.${userId}`;
    triggers.set(id, Date.now());
    return id;
  };
  const responseUrl = (channel: string, user: string, messageTs?: string): string => {
    const id = world.nextId('R');
    responses.set(id, { channel, user, messageTs, uses: 0 });
    return `${root}/respond/${id}`;
  };

  return {
    root,
    apiRoot: `${root}/api/`,
    appToken: 'xapp-1-A0EMULATOR-1-emulated',
    signingSecret: 'emulated-signing-secret',
    world,
    team,
    calls: api.calls,
    receipts: delivery.receipts,
    violations: () => [...api.violations, ...delivery.violations],
    addTeam,
    addUser(name, { locale = 'en-US', isBot = false } = {}) {
      const user = { id: world.nextId('U'), name: name.toLowerCase(), realName: name, locale, isBot };
      world.users.set(user.id, user);
      return createUser(user, {
        world,
        root: () => root,
        emit,
        send: delivery.send,
        trigger,
        responseUrl,
        firstTeam: team,
      });
    },
    addChannel(name, type, members, owner = team) {
      const prefix = type === 'channel' ? 'C' : 'G';
      const channel: SlackChannel = {
        id: world.nextId(prefix),
        teamId: owner.id,
        name,
        type,
        members: new Set([owner.botUserId, ...members.map(({ id }) => id)]),
        archived: false,
      };
      world.channels.set(channel.id, channel);
      return channel;
    },
    fail: faults.add,
    slow(ms) {
      delayMs = ms;
    },
    dropSocket: delivery.dropAll,
    refreshSocket: delivery.refresh,
    freezeSocket: delivery.freeze,
    redeliver: delivery.redeliver,
    hold: delivery.hold,
    release: ({ reversed } = { reversed: false }) => delivery.release(reversed),
    useHttp: delivery.useHttp,
    connections: delivery.connections,
    signInPageForFiles(on) {
      signInPage = on;
    },
    async close() {
      delivery.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
