import { type CallContext, type CompatServiceDefinition, createServer, ServerError, Status } from 'nice-grpc';
import { z } from 'zod';
import { sleep, systemClock } from '../../../src/clock.ts';
import { createFaults, type Faults } from '../emulator.ts';

/** One method of a service: the fields that it takes and no others, and what it answers. */
export interface GrpcMethod {
  answer(request: unknown, context: CallContext): Promise<object>;
}

/** A method that answers with a stream. */
export interface GrpcStream {
  stream(request: unknown, context: CallContext): AsyncIterable<object>;
}

export interface GrpcService {
  definition: CompatServiceDefinition & { methods: Record<string, unknown> };
  methods: Readonly<Record<string, GrpcMethod | GrpcStream>>;
  /** Throws where the caller may not ask. */
  authorize(context: CallContext, method: string): void;
}

export interface StrictGrpc {
  port: number;
  /** What no client that knows the API would have asked; must be empty. */
  violations: string[];
  /** Names of the methods that were called, in order. */
  calls: string[];
  /** By method; `status` is a gRPC status code. */
  faults: Faults;
  stop(): Promise<void>;
}

/** Serves on a free port of the loopback; a method or a field that is not known is refused and kept as a violation. */
export async function startStrictGrpc(
  services: (port: () => number) => readonly GrpcService[],
): Promise<StrictGrpc> {
  const server = createServer();
  const violations: string[] = [];
  const calls: string[] = [];
  const faults = createFaults();
  let port = 0;

  function refuse(method: string, problem: string): never {
    violations.push(`${method}: ${problem}`);
    throw new ServerError(Status.UNIMPLEMENTED, `${method}: ${problem}`);
  }

  async function disturbed<T>(method: string, context: CallContext, act: () => Promise<T>): Promise<T> {
    const fault = faults.take(method);
    if (fault?.kind === 'fail') throw new ServerError(fault.status, fault.description ?? 'refused');
    if (fault?.kind === 'hang') await sleep(systemClock, 600_000, context.signal);
    if (fault?.kind === 'delay') await sleep(systemClock, fault.ms);
    if (fault?.kind === 'drop' && fault.when === 'before')
      throw new ServerError(Status.UNAVAILABLE, 'broken');
    const answer = await act();
    if (fault?.kind === 'drop') throw new ServerError(Status.UNAVAILABLE, 'broken');
    return answer;
  }

  for (const { definition, methods, authorize } of services(() => port)) {
    const implementation = Object.keys(definition.methods).map((name) => {
      const method = methods[name];
      const begin = (context: CallContext) => {
        calls.push(name);
        authorize(context, name);
      };
      if (method !== undefined && 'stream' in method) {
        const streamed = method;
        async function* answers(request: unknown, context: CallContext) {
          begin(context);
          await disturbed(name, context, async () => undefined);
          yield* told(name, streamed, request, context);
        }
        return [name, answers] as const;
      }
      async function unary(request: unknown, context: CallContext) {
        begin(context);
        if (method === undefined || !('answer' in method)) return refuse(name, 'not a method that is used');
        return disturbed(name, context, () => method.answer(request, context).catch(unknownField(name)));
      }
      return [name, unary] as const;
    });
    server.add(definition, Object.fromEntries(implementation));
  }

  async function* told(name: string, method: GrpcStream, request: unknown, context: CallContext) {
    try {
      yield* method.stream(request, context);
    } catch (error) {
      unknownField(name)(error);
    }
  }

  const unknownField =
    (name: string) =>
    (error: unknown): never => {
      if (error instanceof z.ZodError) return refuse(name, z.prettifyError(error));
      throw error;
    };

  port = await server.listen('127.0.0.1:0');
  return {
    port,
    violations,
    calls,
    faults,
    async stop() {
      server.forceShutdown();
    },
  };
}

/** A method that takes these fields. What has its default value counts as not set, as it does on the wire. */
export function method<T extends z.ZodRawShape>(
  fields: T,
  answer: (request: z.output<z.ZodObject<T, z.core.$strict>>, context: CallContext) => Promise<object>,
): GrpcMethod {
  const shape = z.strictObject(fields);
  return { answer: async (request, context) => answer(shape.parse(fieldsSet(request)), context) };
}

export function stream<T extends z.ZodRawShape>(
  fields: T,
  answer: (request: z.output<z.ZodObject<T, z.core.$strict>>, context: CallContext) => AsyncIterable<object>,
): GrpcStream {
  const shape = z.strictObject(fields);
  return {
    async *stream(request, context) {
      yield* answer(shape.parse(fieldsSet(request)), context);
    },
  };
}

function fieldsSet(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(fieldsSet);
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value;
  const set = Object.entries(value).map(([name, field]) => [name, fieldsSet(field)] as const);
  return Object.fromEntries(set.filter(([, field]) => !isDefault(field)));
}

function isDefault(value: unknown): boolean {
  if (value === undefined || value === null || value === '' || value === 0 || value === false) return true;
  if (typeof value !== 'object') return false;
  return value instanceof Uint8Array ? value.length === 0 : Object.keys(value).length === 0;
}
