import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { z } from 'zod';
import { preciseNow } from '../drive.ts';
import { guildToWire, userToWire, type Wire } from './wire.ts';
import type { World } from './world.ts';

/** Opcodes and close codes of Discord's gateway, version 10. */
const op = {
  dispatch: 0, heartbeat: 1, identify: 2, presence: 3, resume: 6, reconnect: 7, invalidSession: 9, hello: 10, ack: 11,
} as const; // biome-ignore format: a table
const close = { unknownError: 4000, unknownOpcode: 4001, decodeError: 4002, notAuthenticated: 4003, authenticationFailed: 4004, alreadyAuthenticated: 4005, invalidSeq: 4007, disallowedIntents: 4014 } as const; // biome-ignore format: a table

const intentBits = {
  guilds: 1 << 0,
  guildMessages: 1 << 9,
  directMessages: 1 << 12,
  messageContent: 1 << 15,
} as const;
/** GUILD_MEMBERS, GUILD_PRESENCES, MESSAGE_CONTENT. */
const privileged = (1 << 1) | (1 << 8) | intentBits.messageContent;

const frame = z.object({ op: z.number().int(), d: z.unknown() });
const identify = z.object({
  token: z.string(),
  intents: z.number().int(),
  properties: z.object({ os: z.string(), browser: z.string(), device: z.string() }),
  compress: z.boolean().optional(),
  large_threshold: z.number().int().min(50).max(250).optional(),
  shard: z.tuple([z.number().int(), z.number().int()]).optional(),
});
const resume = z.object({ token: z.string(), session_id: z.string(), seq: z.number().int() });

interface Session {
  id: string;
  intents: number;
  shard: readonly [number, number];
  log: { s: number; t: string; d: Wire }[];
  socket: WebSocket | undefined;
  resumable: boolean;
}

/** Which sessions a dispatch goes to, and whether it may hold message text. */
export interface DispatchTarget {
  guildId?: string;
  direct?: boolean;
}

export interface Gateway {
  violations: string[];
  identifies(): number;
  resumes(): number;
  connections(): number;
  dispatch(type: string, data: Wire | ((withoutContent: boolean) => Wire), target: DispatchTarget): void;
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** Cuts the wire without a closing frame. */
  dropSocket(): void;
  closeWith(code: number): void;
  askToReconnect(): void;
  invalidate(resumable: boolean): void;
  /** Keeps dispatches back; `release` sends them, in the other order when `reversed`. */
  hold(): void;
  release(reversed: boolean): void;
  /** Sends the last dispatches of this type again, under new sequence numbers. */
  redeliver(type: string): void;
  silenceAcks(on: boolean): void;
  refuseConnections(on: boolean): void;
  /** How many connections were refused so far. */
  refused(): number;
  close(): void;
}

export interface GatewayDeps {
  world: World;
  root(): string;
  heartbeatMs: number;
  /** Called as a dispatch goes onto the wire; `at` in epoch milliseconds. */
  onSent(type: string, data: Wire, at: number): void;
}

export function createGateway({ world, root, heartbeatMs, onSent }: GatewayDeps): Gateway {
  const server = new WebSocketServer({ noServer: true });
  const sessions = new Map<string, Session>();
  const violations: string[] = [];
  let identifies = 0;
  let resumes = 0;
  let held: (() => void)[] | undefined;
  let acks = true;
  let refusing = false;
  let refused = 0;

  const send = (socket: WebSocket, opcode: number, d: unknown, extra: Record<string, unknown> = {}): void =>
    socket.send(JSON.stringify({ op: opcode, d, s: null, t: null, ...extra }));

  const live = (): Session[] => [...sessions.values()].filter(({ socket }) => socket !== undefined);

  function emit(session: Session, t: string, d: Wire): void {
    const s = session.log.length + 1;
    session.log.push({ s, t, d });
    if (session.socket?.readyState !== 1) return;
    onSent(t, d, preciseNow());
    send(session.socket, op.dispatch, d, { s, t });
  }

  server.on('connection', (socket: WebSocket, request: IncomingMessage) => {
    const query = new URL(request.url ?? '/', 'ws://gateway').searchParams;
    if (query.get('v') !== '10' || query.get('encoding') !== 'json' || query.has('compress')) {
      violations.push(`gateway: unexpected query ${query}`);
    }
    let session: Session | undefined;
    send(socket, op.hello, { heartbeat_interval: heartbeatMs, _trace: [] });
    socket.on('close', () => {
      if (session?.socket === socket) session.socket = undefined;
    });
    socket.on('message', (raw) => {
      const parsed = frame.safeParse(JSON.parse(String(raw)));
      if (!parsed.success) return socket.close(close.decodeError, 'Decode error.');
      const { op: opcode, d } = parsed.data;
      if (opcode === op.heartbeat) {
        if (acks) send(socket, op.ack, null);
      } else if (opcode === op.identify) session = onIdentify(socket, d);
      else if (opcode === op.resume) session = onResume(socket, d);
      else if (opcode !== op.presence) socket.close(close.unknownOpcode, 'Unknown opcode.');
    });
  });

  function onIdentify(socket: WebSocket, data: unknown): Session | undefined {
    identifies += 1;
    const parsed = identify.safeParse(data);
    if (!parsed.success) {
      violations.push(`identify: ${parsed.error.message}`);
      socket.close(close.decodeError, 'Decode error.');
      return undefined;
    }
    const { token, intents, shard = [0, 1] } = parsed.data;
    if (token !== world.token) return void socket.close(close.authenticationFailed, 'Authentication failed.');
    if ((intents & privileged & ~world.privilegedIntents) !== 0) {
      return void socket.close(close.disallowedIntents, 'Disallowed intent(s).');
    }
    const session: Session = { id: crypto.randomUUID(), intents, shard, log: [], socket, resumable: true };
    sessions.set(session.id, session);
    const guilds = [...world.guilds.values()].filter(({ id }) => shardOf(id, shard[1]) === shard[0]);
    emit(session, 'READY', {
      v: 10,
      user: { ...userToWire(world.bot), verified: true, mfa_enabled: false, email: null, flags: 0 },
      guilds: guilds.map(({ id }) => ({ id, unavailable: true })),
      session_id: session.id,
      resume_gateway_url: root().replace('http', 'ws'),
      shard,
      application: { id: world.applicationId, flags: 0 },
      private_channels: [],
      session_type: 'normal',
      _trace: [],
    });
    if ((intents & intentBits.guilds) !== 0) {
      for (const guild of guilds) emit(session, 'GUILD_CREATE', guildToWire(guild, world));
    }
    return session;
  }

  function onResume(socket: WebSocket, data: unknown): Session | undefined {
    const { token, session_id: id, seq } = resume.parse(data);
    if (token !== world.token) return void socket.close(close.authenticationFailed, 'Authentication failed.');
    const session = sessions.get(id);
    if (session === undefined || !session.resumable) return void send(socket, op.invalidSession, false);
    if (seq > session.log.length) return void socket.close(close.invalidSeq, 'Invalid seq.');
    resumes += 1;
    session.socket = socket;
    for (const { s, t, d } of session.log.slice(seq)) send(socket, op.dispatch, d, { s, t });
    emit(session, 'RESUMED', { _trace: [] });
    return session;
  }

  function hears(session: Session, { guildId, direct = false }: DispatchTarget): boolean {
    if (direct) return session.shard[0] === 0 && (session.intents & intentBits.directMessages) !== 0;
    return guildId === undefined || shardOf(guildId, session.shard[1]) === session.shard[0];
  }

  const act = (task: () => void): void => (held === undefined ? task() : void held.push(task));

  return {
    violations,
    identifies: () => identifies,
    resumes: () => resumes,
    connections: () => live().length,
    dispatch(type, data, target) {
      act(() => {
        for (const session of sessions.values()) {
          const messageEvent = type.startsWith('MESSAGE_') && target.direct !== true;
          if (!session.resumable || !hears(session, target)) continue;
          if (messageEvent && (session.intents & intentBits.guildMessages) === 0) continue;
          const withoutContent = (session.intents & intentBits.messageContent) === 0;
          emit(session, type, typeof data === 'function' ? data(withoutContent) : data);
        }
      });
    },
    upgrade(request, socket, head) {
      if (refusing) {
        refused += 1;
        return void socket.destroy();
      }
      server.handleUpgrade(request, socket, head, (ws) => server.emit('connection', ws, request));
    },
    dropSocket() {
      for (const { socket } of live()) socket?.terminate();
    },
    closeWith(code) {
      for (const { socket } of live()) socket?.close(code, 'closed by the test');
    },
    askToReconnect() {
      for (const { socket } of live()) if (socket !== undefined) send(socket, op.reconnect, null);
    },
    invalidate(resumable) {
      for (const session of live()) {
        session.resumable = resumable;
        if (session.socket !== undefined) send(session.socket, op.invalidSession, resumable);
      }
    },
    hold() {
      held ??= [];
    },
    release(reversed) {
      const tasks = held ?? [];
      held = undefined;
      for (const task of reversed ? tasks.reverse() : tasks) task();
    },
    redeliver(type) {
      for (const session of live()) {
        const last = session.log.findLast(({ t }) => t === type);
        if (last !== undefined) emit(session, type, last.d);
      }
    },
    silenceAcks(on) {
      acks = !on;
    },
    refuseConnections(on) {
      refusing = on;
    },
    refused: () => refused,
    close() {
      for (const client of server.clients) client.terminate();
      server.close();
    },
  };
}

// discord.com/developers/docs/events/gateway#sharding: shard_id = (guild_id >> 22) % num_shards
const shardOf = (guildId: string, count: number): number => Number((BigInt(guildId) >> 22n) % BigInt(count));
