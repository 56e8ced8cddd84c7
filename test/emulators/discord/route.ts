import type { z } from 'zod';
import type { DispatchTarget } from './gateway.ts';
import type { Interactions } from './interactions.ts';
import type { MessageView, Wire } from './wire.ts';
import type { DiscordAttachment, DiscordChannel, DiscordMessage, World } from './world.ts';

/** An answer of Discord's that is not a success: HTTP status, Discord's code, its text. */
export class Refusal extends Error {
  readonly status: number;
  readonly code: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, code: number, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.headers = headers;
  }
}

/** Those that the routes throw more than once. */
export const refusals = {
  unknownChannel: () => new Refusal(404, 10003, 'Unknown Channel'),
  unknownGuild: () => new Refusal(404, 10004, 'Unknown Guild'),
  unknownMember: () => new Refusal(404, 10007, 'Unknown Member'),
  unknownMessage: () => new Refusal(404, 10008, 'Unknown Message'),
  unknownUser: () => new Refusal(404, 10013, 'Unknown User'),
  unknownInteraction: () => new Refusal(404, 10062, 'Unknown interaction'),
  missingAccess: () => new Refusal(403, 50001, 'Missing Access'),
  missingPermissions: () => new Refusal(403, 50013, 'Missing Permissions'),
  invalidForm: (what: string) => new Refusal(400, 50035, `Invalid Form Body: ${what}`),
};

export interface Call {
  method: string;
  route: string;
  path: string;
  params: Readonly<Record<string, string>>;
  query: URLSearchParams;
  body: unknown;
  files: readonly DiscordAttachment[];
  /** When it began to arrive, in epoch milliseconds. */
  at: number;
}

/** What every route may use. */
export interface RouteContext {
  world: World;
  interactions: Interactions;
  view(): MessageView;
  root(): string;
  dispatch(type: string, data: Wire | ((withoutContent: boolean) => Wire), target: DispatchTarget): void;
  /** Tells every session of the channel. */
  announce(type: 'MESSAGE_CREATE' | 'MESSAGE_UPDATE', message: DiscordMessage): void;
  targetOf(channel: DiscordChannel): DispatchTarget;
  /** Permissions that the bot lacks, such as `CREATE_PUBLIC_THREADS`. */
  denied: Set<string>;
  /** Ids of people whose DMs are closed to the bot. */
  closedDms: Set<string>;
}

export type RouteResult = Wire | Wire[] | undefined;

export interface Route {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  /** Authorised by the token in the path instead of the bot's. */
  open?: boolean;
  handle(call: Call, context: RouteContext): RouteResult;
}

/** Reads a body, or refuses as Discord does. */
export function read<Shape extends z.ZodType>(shape: Shape, body: unknown): z.infer<Shape> {
  const parsed = shape.safeParse(body);
  if (!parsed.success) throw refusals.invalidForm(parsed.error.message);
  return parsed.data;
}

export function param(call: Call, name: string): string {
  const value = call.params[name];
  if (value === undefined) throw new Error(`${call.route} has no ${name}`);
  return value;
}

export function channelOf(call: Call, { world }: RouteContext): DiscordChannel {
  const channel = world.channels.get(param(call, 'channel_id'));
  if (channel === undefined) throw refusals.unknownChannel();
  if (channel.hidden) throw refusals.missingAccess();
  return channel;
}
