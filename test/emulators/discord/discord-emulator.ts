import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type Described, describedIn } from '../described.ts';
import { type Changes, createChanges } from '../emulator.ts';
import { loadDescriptionCheck } from './description.ts';
import { createFaults, type Fault } from './faults.ts';
import { createGateway, type Gateway } from './gateway.ts';
import { createInteractions, type Interaction } from './interactions.ts';
import { createRest } from './rest.ts';
import type { Call, RouteContext } from './route.ts';
import { newChannel } from './routes/channels.ts';
import { createUser, type DiscordUserHandle } from './user.ts';
import { guildToWire, messageEventFields, messageToWire, type Wire } from './wire.ts';
import {
  channelTypes,
  createWorld,
  type DiscordChannel,
  type DiscordGuild,
  type DiscordMessage,
  type World,
} from './world.ts';

export interface DiscordEmulator {
  /** `http://127.0.0.1:port`. */
  root: string;
  /** What `DISCORD_API_ROOT` takes. */
  apiRoot: string;
  token: string;
  world: World;
  guild: DiscordGuild;
  /** Every call as `METHOD route`, refused ones too. */
  received: readonly string[];
  calls: readonly Call[];
  interactions: readonly Interaction[];
  gateway: Gateway;
  /** Resolves with the first value of `look` that is not undefined; looks again after each call of the bot. */
  until: Changes['until'];
  /** Every way in which the bot broke the protocol so far. */
  violations(): string[];
  described(): Described;
  /** Returns what ends the watching. */
  watch(watcher: Watcher): () => void;
  addGuild(name: string): DiscordGuild;
  addUser(name: string, options?: { locale?: string; isBot?: boolean; roles?: string[] }): DiscordUserHandle;
  addChannel(name: string, options?: { type?: number; guild?: DiscordGuild }): DiscordChannel;
  /** Fails the next calls of a route, such as `POST /channels/{channel_id}/messages`; `*` is any. */
  fail(route: string, fault: Fault): void;
  slow(delayMs: number): void;
  dropSocket(): void;
  redeliver(type?: string): void;
  /** Limits each bucket; without arguments as good as none. */
  limitBuckets(limit?: number, windowMs?: number): void;
  /** A thread on a message, of which the bot is not told. */
  addThreadQuietly(parent: DiscordChannel, message: DiscordMessage): void;
  /** Takes a permission from the bot, such as `CREATE_PUBLIC_THREADS`. */
  deny(permission: string): void;
  closeDmsOf(user: DiscordUserHandle): void;
  close(): Promise<void>;
}

/** Told of what goes over the wire; times are epoch milliseconds. */
export interface Watcher {
  sent(type: string, data: Wire, at: number): void;
  called(call: Call): void;
}

export interface EmulatorOptions {
  port?: number;
  heartbeatMs?: number;
}

/** A Discord on loopback that the real, unmodified discord.js talks to. */
export async function startDiscordEmulator(options: EmulatorOptions = {}): Promise<DiscordEmulator> {
  const world = createWorld();
  const faults = createFaults();
  const interactions = createInteractions(world);
  const changes = createChanges(() =>
    JSON.stringify(rest.calls.slice(-20).map(({ method, path }) => `${method} ${path}`)),
  );
  let delayMs = 0;
  let bucket = { limit: 1_000_000, windowMs: 1000 };
  let root = '';
  const watchers = new Set<Watcher>();
  const gateway = createGateway({
    world,
    root: () => root,
    heartbeatMs: options.heartbeatMs ?? 41_250,
    onSent(type, data, at) {
      for (const watcher of watchers) watcher.sent(type, data, at);
    },
  });

  const context: RouteContext = {
    world,
    interactions,
    root: () => root,
    view: () => ({ root, withoutContent: false }),
    dispatch: gateway.dispatch,
    announce(type, message) {
      const channel = world.channels.get(message.channelId);
      if (channel === undefined) return;
      const wire = (withoutContent: boolean) => ({
        ...messageToWire(message, world, { root, withoutContent }),
        ...messageEventFields(message, world),
      });
      gateway.dispatch(type, wire, context.targetOf(channel));
    },
    targetOf: ({ guildId }) => (guildId === undefined ? { direct: true } : { guildId }),
    denied: new Set(),
    closedDms: new Set(),
  };
  const check = loadDescriptionCheck();
  const rest = createRest({
    context,
    faults,
    check,
    delayMs: () => delayMs,
    onCall(call) {
      for (const watcher of watchers) watcher.called(call);
    },
    bucket: () => bucket,
  });

  function serveAttachment(path: string, response: ServerResponse): void {
    const [, , , id] = path.split('/');
    const file = world.messages
      .flatMap(({ attachments }) => attachments)
      .find((candidate) => candidate.id === id);
    if (file === undefined) return void response.writeHead(404).end('This content is no longer available.');
    response
      .writeHead(200, { 'content-type': file.mimeType, 'content-length': file.bytes.length })
      .end(file.bytes);
  }

  async function route(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', root);
    if (url.pathname.startsWith('/attachments/')) return serveAttachment(url.pathname, response);
    if (!url.pathname.startsWith('/api/v10/')) return void response.writeHead(404).end();
    await rest.handle(request, response, url.pathname.slice('/api/v10'.length), url.searchParams);
    changes.announce();
  }

  const server = createServer((request, response) => {
    route(request, response).catch((error: unknown) => {
      rest.violations.push(error instanceof Error ? (error.stack ?? error.message) : String(error));
      response.writeHead(500).end();
    });
  });
  server.on('upgrade', gateway.upgrade);
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, '127.0.0.1', resolve));
  const address = server.address();
  root = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;

  function addGuild(name: string): DiscordGuild {
    const id = world.nextId();
    const guild: DiscordGuild = {
      id,
      name,
      ownerId: world.nextId(),
      roles: [
        { id, name: '@everyone' },
        { id: world.nextId(), name: world.bot.name, botId: world.bot.id },
      ],
      members: new Map([[world.bot.id, { roles: [], nick: null, timeoutUntil: null }]]),
      bans: new Map(),
    };
    world.guilds.set(guild.id, guild);
    gateway.dispatch('GUILD_CREATE', guildToWire(guild, world), { guildId: guild.id });
    return guild;
  }
  const firstGuild = addGuild('Acme');

  return {
    root,
    apiRoot: `${root}/api`,
    token: world.token,
    world,
    guild: firstGuild,
    received: rest.received,
    calls: rest.calls,
    interactions: interactions.all,
    gateway,
    until: changes.until,
    violations: () => [...rest.violations, ...gateway.violations],
    described: () =>
      describedIn(
        rest.calls.map(({ method, route: path }) => `${method} ${path}`),
        check.knows,
      ),
    watch(watcher) {
      watchers.add(watcher);
      return () => void watchers.delete(watcher);
    },
    addGuild,
    addUser(name, { locale = 'en-US', isBot = false, roles = [] } = {}) {
      const user = { id: world.nextId(), name, locale, isBot };
      world.users.set(user.id, user);
      for (const guild of world.guilds.values()) {
        guild.members.set(user.id, { roles, nick: null, timeoutUntil: null });
      }
      return createUser(user, context);
    },
    addChannel(name, { type = channelTypes.text, guild = firstGuild } = {}) {
      const channel = newChannel(world, { type, name, guildId: guild.id });
      gateway.dispatch(
        'CHANNEL_CREATE',
        {
          id: channel.id,
          type,
          guild_id: guild.id,
          name,
          position: 0,
          permission_overwrites: [],
          parent_id: null,
        },
        { guildId: guild.id },
      );
      return channel;
    },
    fail: faults.add,
    slow(ms) {
      delayMs = ms;
    },
    dropSocket: gateway.dropSocket,
    redeliver: (type = 'MESSAGE_CREATE') => gateway.redeliver(type),
    limitBuckets(limit = 1_000_000, windowMs = 1000) {
      bucket = { limit, windowMs };
    },
    addThreadQuietly({ id: parentId, guildId }, { id }) {
      const fields = { id, type: channelTypes.publicThread, name: 'quiet', parentId };
      newChannel(world, { ...fields, ...(guildId === undefined ? {} : { guildId }) });
    },
    deny: (permission) => void context.denied.add(permission),
    closeDmsOf: ({ id }) => void context.closedDms.add(id),
    async close() {
      gateway.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export { channelTypes } from './world.ts';
