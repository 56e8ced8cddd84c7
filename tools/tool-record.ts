import { z } from 'zod';
import type { ApprovalSubject } from '../src/approvals/subject.ts';
import { redactSecrets } from '../src/redact.ts';
import { coerceArgs } from './coerce.ts';
import { cutText, isRecord } from './results.ts';
import type {
  JsonSchema,
  JsonToolOptions,
  Question,
  ToolContext,
  ToolOptions,
  ToolSchema,
  ZodToolOptions,
} from './tool.ts';

export type RawArgs = Readonly<Record<string, unknown>>;

/**
 * A registered tool as the runtime sees it. Every function takes the arguments as the model wrote them: they are
 * coerced and checked inside, and `InvalidArguments` is thrown when they do not fit.
 */
export interface ToolRecord {
  readonly name: string;
  readonly toolset: string;
  /** For people. */
  readonly description: string;
  readonly emoji: string;
  readonly requiresEnv: readonly string[];
  readonly isAsync: boolean;
  readonly checkFn: (() => boolean | Promise<boolean>) | undefined;
  readonly maxResultSizeChars: number | undefined;
  readonly dynamicSchemaOverrides: (() => Partial<ToolSchema>) | undefined;
  readonly agentLoop: boolean;
  readonly idempotent: boolean;
  readonly concurrency: 'parallel' | 'path' | 'sequential' | 'exclusive';
  /** Null: the tool bounds itself. Undefined: the runtime's default. */
  readonly timeoutMs: number | null | undefined;
  readonly schema: ToolSchema;
  coerce(args: unknown): Record<string, unknown>;
  /** Resolves with whatever the handler gives; the registry checks that it is a result. */
  handle(args: RawArgs, context: ToolContext): Promise<unknown>;
  subject(args: RawArgs, context: ToolContext): Promise<ApprovalSubject | null>;
  /** Null when the tool asks the user nothing. */
  question(args: RawArgs): Question | null;
  /** At most 40 characters for a progress line, secrets redacted. Never throws. */
  preview(args: RawArgs): string;
}

/** The model's arguments do not fit the tool's schema; the message names each of them. */
export class InvalidArguments extends Error {
  constructor(tool: string, problems: string) {
    super(`Invalid arguments for ${tool}: ${problems}`);
    this.name = 'InvalidArguments';
  }
}

/** Throws an error that names the tool when the registration is broken, so a bad plugin fails at load. */
export function createToolRecord<Shape extends z.ZodType>(
  options: ZodToolOptions<Shape> | JsonToolOptions,
): ToolRecord {
  if (!isRecord(options.schema)) throw broken(options.name, 'schema must be an object');
  return hasZodParameters(options) ? fromZod(options) : fromJsonSchema(options);
}

function hasZodParameters<Shape extends z.ZodType>(
  options: ZodToolOptions<Shape> | JsonToolOptions,
): options is ZodToolOptions<Shape> {
  return options.schema.parameters instanceof z.ZodType;
}

function fromZod<Shape extends z.ZodType>(options: ZodToolOptions<Shape>): ToolRecord {
  const { description, parameters } = options.schema;
  if (!(parameters instanceof z.ZodObject))
    throw broken(options.name, 'zod parameters must be an object schema');
  const json: JsonSchema = z.toJSONSchema(parameters, { io: 'input', target: 'draft-7' });
  const parse = (args: RawArgs): z.infer<Shape> => {
    const parsed = options.schema.parameters.safeParse(coerceArgs(json, args));
    if (parsed.success) return parsed.data;
    const problems = parsed.error.issues.map((issue) =>
      [issue.path.join('.'), issue.message].filter(Boolean).join(': '),
    );
    throw new InvalidArguments(options.name, problems.join('; '));
  };
  return bind(options, { description, parameters: json }, parse);
}

function fromJsonSchema(options: JsonToolOptions): ToolRecord {
  const { parameters } = options.schema;
  if (parameters !== null && !isRecord(parameters)) {
    throw broken(options.name, 'schema.parameters must be an object or null');
  }
  return bind(options, options.schema, (args) => coerceArgs(parameters, args));
}

function bind<Args>(
  options: ToolOptions<Args>,
  schema: ToolSchema,
  parse: (args: RawArgs) => Args,
): ToolRecord {
  const { name, toolset } = options;
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(name)) {
    throw broken(name, 'a name has 1 to 64 letters, digits, _ or -, as providers demand');
  }
  if (toolset === '') throw broken(name, 'toolset must not be empty');
  return {
    name,
    toolset,
    description: options.description ?? schema.description,
    emoji: options.emoji ?? '⚡',
    requiresEnv: options.requiresEnv ?? [],
    isAsync: options.isAsync ?? options.handler.constructor.name === 'AsyncFunction',
    checkFn: options.checkFn,
    maxResultSizeChars: options.maxResultSizeChars,
    dynamicSchemaOverrides: options.dynamicSchemaOverrides,
    agentLoop: options.agentLoop ?? false,
    idempotent: options.idempotent ?? false,
    concurrency: options.concurrency ?? 'sequential',
    timeoutMs: options.timeoutMs,
    schema,
    coerce: (args) => coerceArgs(schema.parameters, args),
    handle: async (args, context) => options.handler(parse(args), context),
    subject: async (args, context) => (options.subject ? options.subject(parse(args), context) : null),
    question: (args) => (options.question ? options.question(parse(args)) : null),
    preview: (args) => shorten(previewText(options, args, parse)),
  };
}

function previewText<Args>(
  options: ToolOptions<Args>,
  args: RawArgs,
  parse: (args: RawArgs) => Args,
): string {
  const fallback = () => Object.values(args).find((value) => typeof value === 'string') ?? '';
  if (!options.preview) return fallback();
  try {
    return options.preview(parse(args));
  } catch {
    return fallback(); // A progress line about a call that will fail: its result says why.
  }
}

const shorten = (text: string): string => {
  const line = redactSecrets(text.slice(0, 1_000)).replaceAll(/\s+/g, ' ').trim();
  return line.length > 40 ? `${cutText(line, 39)}…` : line;
};

const broken = (name: unknown, why: string): Error =>
  new TypeError(`Tool "${String(name)}" cannot be registered: ${why}.`);
