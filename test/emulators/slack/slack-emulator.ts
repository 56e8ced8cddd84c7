import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type Described, describedIn } from '../described.ts';
import { createContentRoutes } from './content-routes.ts';
import { createDelivery, type HttpEndpoint, type Receipt } from './delivery.ts';
import { createFaults, type Fault } from './faults.ts';
import type { MethodContext } from './method.ts';
import { loadDescriptionCheck } from './openapi.ts';
import { createUser, type SlackUserHandle } from './user.ts';
import { type Call, createWebApi } from './web-api.ts';
import { type ChannelType, createWorld, type SlackChannel, type SlackTeam, type World } from './world.ts';

/** What a freshly installed app of ours is granted. */
export const allScopes: readonly string[] = (
  'app_mentions:read assistant:write channels:history channels:read chat:write commands files:read files:write ' +
  'groups:history groups:read im:history im:read im:write mpim:history mpim:read reactions:read reactions:write users:read'
).split(' ');

/** Told of what goes over the wire; times are epoch milliseconds. */
export interface Watcher {
  sent(payload: Record<string, unknown>, at: number): void;
  called(call: Call): void;
}

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
  described(): Described;
  /** Returns what ends the watching. */
  watch(watcher: Watcher): () => void;
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
  // One gateway a token on a machine: runs side by side need apps of their own.
  const secret = randomBytes(12).toString('hex');
  const appToken = `xapp-1-A0EMULATOR-1-${secret}`;
  const faults = createFaults();
  const watchers = new Set<Watcher>();
  const delivery = createDelivery((payload, at) => {
    for (const watcher of watchers) watcher.sent(payload, at);
  });
  const triggers = new Map<string, number>();
  let delayMs = 0;
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
  const description = loadDescriptionCheck();
  const held: string[] = [];
  const api = createWebApi({
    world,
    faults,
    check(method, args) {
      held.push(method);
      return description(method, args);
    },
    appToken,
    delayMs: () => delayMs,
    onCall(call) {
      for (const watcher of watchers) watcher.called(call);
    },
    contextOf,
  });

  const content = createContentRoutes({ world, faults, violations: api.violations });

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
    if (first === 'upload')
      return content.upload(third, Number(url.searchParams.get('length')), request, response);
    if (first === 'files-pri') return content.download(second, request, response);
    if (first === 'respond') return content.respond(second, request, response);
    response.writeHead(404).end();
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
      botToken: `xoxb-${world.teams.size + 1}-${secret}`,
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

  return {
    root,
    apiRoot: `${root}/api/`,
    appToken,
    signingSecret: 'emulated-signing-secret',
    world,
    team,
    calls: api.calls,
    receipts: delivery.receipts,
    described: () => describedIn(held, description.knows),
    watch(watcher) {
      watchers.add(watcher);
      return () => void watchers.delete(watcher);
    },
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
        responseUrl: (channel, userId, messageTs) =>
          `${root}/respond/${content.allowResponse(channel, userId, messageTs)}`,
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
    signInPageForFiles: content.signInPage,
    async close() {
      delivery.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
