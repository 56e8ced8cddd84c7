/** The port to a language model. Message shapes follow OpenAI's chat completions. */

export interface ToolCall {
  id: string;
  name: string;
  /** JSON text as the model wrote it; may be malformed. */
  arguments: string;
}

export type ContentPart =
  | { type: 'text'; text: string }
  | { type: 'image'; mimeType: string; base64: string };

export type ChatMessage =
  | { role: 'system'; content: string }
  | { role: 'user'; content: string | readonly ContentPart[] }
  | { role: 'assistant'; content: string; toolCalls: readonly ToolCall[] }
  | { role: 'tool'; toolCallId: string; content: string };

/** OpenAI function schema, as the tool registry builds it. */
export interface ToolDefinition {
  type: 'function';
  function: { name: string; description: string; parameters: Record<string, unknown> };
}

export interface ModelRequest {
  messages: readonly ChatMessage[];
  tools: readonly ToolDefinition[];
  /** Ends the call at once; the promise rejects with a `GatewayError` `cancelled`. */
  signal: AbortSignal;
  /** Called with each piece of visible text as it streams; never with reasoning. May be called from retries anew. */
  onText?: (delta: string) => void;
  /** A retry starts the answer over: forget the text shown so far. */
  onRestart?: () => void;
  /** Any sign of life from the provider: feeds the watchdog. */
  onActivity?: () => void;
  temperature?: number;
  maxTokens?: number;
}

export interface Usage {
  inputTokens: number;
  outputTokens: number;
}

export interface ModelReply {
  text: string;
  toolCalls: readonly ToolCall[];
  finishReason: 'stop' | 'tool_calls' | 'length' | 'content_filter';
  usage: Usage;
  /** The model that answered, which a fallback may change. */
  model: string;
}

/**
 * Rejects with `GatewayError` only: `model_unauthorized`, `model_rate_limited`, `model_unavailable`,
 * `model_rejected`, `model_context_exceeded`, `cancelled`. Retries and fallbacks have happened by then.
 */
export interface ModelClient {
  readonly model: string;
  /** Size of the context window in tokens, as far as known. */
  readonly contextTokens: number;
  complete(request: ModelRequest): Promise<ModelReply>;
}
