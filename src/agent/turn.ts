import type { Log } from '../log.ts';
import type { ModelClient, ToolCall, ToolDefinition, Usage } from '../model/model-client.ts';
import type { Entry, EntryBody } from '../store/entries.ts';
import type { Concurrency } from './schedule.ts';

/** What a turn works with. The gateway fills it; tests fill it with small real parts. */
export interface TurnPorts {
  transcript: Transcript;
  model: ModelClient;
  tools: AgentTools;
  events: TurnEvents;
  systemPrompt: string;
  /** Model calls a turn may make before it is asked to wrap up. */
  maxIterations: number;
  /** Words of the catalogue that the loop itself says. */
  texts: { budgetSpent: string; emptyReply: string };
  log: Log;
}

/** The stored transcript of one session, held by one fenced owner. Every write is durable once it resolves. */
export interface Transcript {
  entries(): readonly Entry[];
  append(body: EntryBody): Promise<void>;
  /** An assistant message with tool calls; its text, if any, is shown to the user right away. */
  appendCalls(body: Extract<EntryBody, { kind: 'assistant' }>, usage: Usage): Promise<void>;
  /** Marks calls as started: after a crash their outcome is unknown until `appendResults`. */
  startCalls(callIds: readonly string[]): Promise<void>;
  unfinished(callIds: readonly string[]): Promise<ReadonlySet<string>>;
  /** Appends results in the order given and marks their calls as finished. */
  appendResults(results: readonly ToolOutcome[]): Promise<void>;
  /** The final answer: stored together with the messages that deliver it. */
  finish(body: Extract<EntryBody, { kind: 'assistant' }>, usage: Usage): Promise<void>;
}

export interface ToolOutcome {
  callId: string;
  tool: string;
  content: string;
}

/** The tools of this session. */
export interface AgentTools {
  definitions: readonly ToolDefinition[];
  concurrencyOf(name: string): Concurrency;
  isIdempotent(name: string): boolean;
  /** What must be settled with a person before the call may run. Never runs anything. */
  consent(call: ToolCall, args: Record<string, unknown>): Promise<Consent>;
  /** Runs the call. Never rejects: failures are results. */
  run(call: ToolCall, args: Record<string, unknown>, signal: AbortSignal): Promise<string>;
  /** Cuts results so that one batch fits the window. */
  limit(results: readonly ToolOutcome[]): Promise<readonly ToolOutcome[]>;
}

export type Consent =
  | { kind: 'run' }
  /** The call is answered without running: refused, or a question that was answered. */
  | { kind: 'answer'; content: string }
  /** A person has been asked; the turn ends here and goes on when the answer is stored. */
  | { kind: 'wait' };

/** What observers are told. An exception in an observer is the observer's business: implementations never throw. */
export interface TurnEvents {
  text(delta: string): void;
  /** A retry of the model call begins the answer anew. */
  restart(): void;
  /** The text so far is complete: tools run now, and what follows is another message. */
  boundary(): void;
  toolStarted(call: ToolCall, args: Record<string, unknown>): void;
  toolFinished(call: ToolCall): void;
  activity(): void;
}

export type TurnOutcome = 'done' | 'parked' | 'interrupted';
