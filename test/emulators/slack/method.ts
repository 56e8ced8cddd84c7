import { z } from 'zod';
import type { SlackTeam, World } from './world.ts';

/** What a method may see and do besides the world itself. */
export interface MethodContext {
  world: World;
  team: SlackTeam;
  /** `http://host:port` of the emulator. */
  root: string;
  /** Sends an Events API event of this team to the app. */
  emit(event: Record<string, unknown>): void;
  socketUrl(): string;
  /** Consumes a trigger; false when it is unknown, used or older than 3 s. */
  useTrigger(triggerId: string): boolean;
}

export interface Method {
  /** Scopes of which the token needs one. */
  scopes: readonly string[];
  /** Arguments as sent: every value a string, JSON where Slack says so. */
  args: z.ZodType<Record<string, unknown>>;
  /** Returns the body of a success; throws a SlackFailure. */
  run(args: Record<string, unknown>, context: MethodContext): Record<string, unknown>;
}

/** An `ok: false` answer. */
export class SlackFailure extends Error {
  readonly code: string;
  readonly details: Record<string, unknown>;
  constructor(code: string, details: Record<string, unknown> = {}) {
    super(code);
    this.code = code;
    this.details = details;
  }
}

/** Declares a method with its arguments' shape kept for the body. */
export function method<Shape extends z.ZodRawShape>(
  scopes: readonly string[],
  shape: Shape,
  run: (args: z.infer<z.ZodObject<Shape, z.core.$strict>>, context: MethodContext) => Record<string, unknown>,
): Method {
  const args = z.strictObject(shape);
  return { scopes, args, run: (raw, context) => run(args.parse(raw), context) };
}

export const flag = z.union([z.boolean(), z.enum(['true', 'false']).transform((value) => value === 'true')]);
export const count = z
  .union([z.number(), z.string().regex(/^\d+$/).transform(Number)])
  .pipe(z.number().min(1).max(1000));
export const ts = z.string().regex(/^\d{10}\.\d{6}$/);

/** A JSON value sent as a string in a form. */
export function json<Type extends z.ZodType>(type: Type) {
  return z.preprocess((value, context) => {
    if (typeof value !== 'string') return value;
    try {
      return JSON.parse(value);
    } catch {
      context.addIssue({ code: 'custom', message: 'is not JSON' });
      return z.NEVER;
    }
  }, type);
}
