import type { z } from 'zod';
import type { Approval, ApprovalSubject } from '../src/approvals/subject.ts';
import type { Log } from '../src/log.ts';
import type { Environment } from './environments/environment.ts';
import type { ProcessTable } from './environments/process-table.ts';

/** What a tool may know and do. One object a call; nothing is read from globals. */
export interface ToolContext {
  /** Whose environment: sessions share one sandbox unless an override says otherwise. */
  taskId: string;
  sessionId: string;
  toolCallId: string;
  /** The user's words that started the turn. */
  userTask: string;
  /** Names of the tools offered in this session. */
  enabledTools: readonly string[];
  signal: AbortSignal;
  log: Log;
  /** The gateway's state directory, for caches and memories. */
  home: string;
  config: ToolConfig;
  /** Opened on first use. */
  environment(): Promise<Environment>;
  processes: ProcessTable;
  /** The async callback of a dangerous action: resolves with a person's decision or the policy's. Never rejects. */
  approve(subject: ApprovalSubject): Promise<Approval>;
  /** A sign of life of a long tool, at least every 10 s. */
  activity(): void;
  /** Present only for agent-loop tools, which need the agent's own state. */
  agent?: AgentState;
}

/** The part of the configuration that tools read. */
export interface ToolConfig {
  terminal: {
    timeoutMs: number;
    maxForegroundTimeoutMs: number;
  };
  toolOutput: { maxBytes: number; maxLines: number; maxLineLength: number };
  memory: { enabled: boolean; userProfileEnabled: boolean; memoryChars: number; userChars: number };
  /** Writes are confined to these folders when not empty (`HERMES_WRITE_SAFE_ROOT`). */
  writeSafeRoots: readonly string[];
}

export interface Todo {
  id: string;
  content: string;
  status: 'pending' | 'in_progress' | 'completed' | 'cancelled';
}

export interface SearchHit {
  sessionId: string;
  title: string;
  role: string;
  /** Milliseconds since the epoch. */
  at: number;
  snippet: string;
}

/** What the agent loop lends to its own tools (`todo`, `memory`, `session_search`, …). */
export interface AgentState {
  todos: { read(): Promise<readonly Todo[]>; write(todos: readonly Todo[]): Promise<void> };
  searchSessions(
    query: string,
    options: { roles?: readonly string[]; limit: number },
  ): Promise<readonly SearchHit[]>;
  /** Whose memory files: users' memories are apart. A folder below `<home>/memories`. */
  memoryFolder: string;
}

/** A JSON Schema object for the tool's arguments. */
export type JsonSchema = { readonly [key: string]: unknown };

export interface ToolSchema {
  name?: string;
  description: string;
  parameters: JsonSchema | null;
}

/** A multimodal result; everything else is a string, JSON text by convention. */
export interface MultimodalResult {
  _multimodal: true;
  content: readonly unknown[];
}

export type ToolResult = string | MultimodalResult;

/** A question to the user that the loop parks on, like an approval (the `clarify` tool). */
export interface Question {
  question: string;
  choices: readonly string[];
}

export interface ToolOptions<Args> {
  name: string;
  toolset: string;
  handler: (args: Args, context: ToolContext) => ToolResult | Promise<ToolResult>;
  /** Evaluated while definitions are built; falsy or throwing leaves the tool out silently. */
  checkFn?: () => boolean | Promise<boolean>;
  /** Names of environment variables, for display only. */
  requiresEnv?: readonly string[];
  isAsync?: boolean;
  /** For people; the model reads the schema's description. Falls back to it. */
  description?: string;
  emoji?: string;
  maxResultSizeChars?: number;
  /** How long the handler may take, in milliseconds; null when it bounds itself. Default: the runtime's 300 s. */
  timeoutMs?: number | null;
  /** A partial schema, merged over the static one at each build. */
  dynamicSchemaOverrides?: () => Partial<ToolSchema>;
  /** Needs the agent's state: `handleFunctionCall` answers with a stub error, the loop calls it itself. */
  agentLoop?: boolean;
  /** Running it twice does no more than once: the loop may run it again after a crash. Default false. */
  idempotent?: boolean;
  /** How a batch of calls may run: see `hermes-behaviour` 4.3. Default `sequential`. */
  concurrency?: 'parallel' | 'path' | 'sequential' | 'exclusive';
  /**
   * What a person must agree to before the handler runs, known without running anything; null when nothing. The
   * loop parks the turn on it; `handleFunctionCall` asks `context.approve` again, so no path goes around it.
   */
  subject?: (args: Args, context: ToolContext) => Promise<ApprovalSubject | null>;
  /** The question that the loop parks on instead of running the handler. */
  question?: (args: Args) => Question;
  /** Forty characters of the arguments for the progress line. Default: the first string argument. */
  preview?: (args: Args) => string;
}

/** With a zod object the handler's `args` are typed and checked; with JSON Schema they are a plain record. */
export type ZodToolOptions<Shape extends z.ZodType> = ToolOptions<z.infer<Shape>> & {
  schema: { description: string; parameters: Shape };
};
export type JsonToolOptions = ToolOptions<Record<string, unknown>> & { schema: ToolSchema };
