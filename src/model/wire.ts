import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { ChatMessage, ModelReply, ModelRequest, ToolCall, Usage } from './model-client.ts';
import { createThinkFilter } from './think-filter.ts';

/** The wire form of OpenAI's chat completions, as far as it is used; servers that speak it leave much out. */

const usage = z.object({ prompt_tokens: z.number().nullish(), completion_tokens: z.number().nullish() });
const toolCallPart = z.object({
  index: z.number().nullish(),
  id: z.string().nullish(),
  function: z.object({ name: z.string().nullish(), arguments: z.string().nullish() }).nullish(),
});
const piece = z.object({
  content: z.string().nullish(),
  refusal: z.string().nullish(),
  tool_calls: z.array(toolCallPart).nullish(),
});
const choice = z.object({
  delta: piece.nullish(),
  message: piece.nullish(),
  finish_reason: z.string().nullish(),
});

/** A streamed chunk, or a whole completion: the latter has `message` where the former has `delta`. */
export const answerSchema = z.object({
  model: z.string().nullish(),
  choices: z.array(choice).nullish(),
  usage: usage.nullish(),
  error: z.unknown().optional(),
});
export type AnswerPart = z.infer<typeof answerSchema>;

export interface Assembler {
  add(part: AnswerPart): void;
  /** Whether the provider said how it ended. */
  finished(): boolean;
  reply(model: string): ModelReply;
}

/** Puts the chunks of one answer together. `onText` gets the visible text as it comes. */
export function createAssembler(onText: (delta: string) => void): Assembler {
  const filter = createThinkFilter();
  const calls: ToolCall[] = [];
  const slots = new Map<number, ToolCall>();
  let text = '';
  let finish: string | null = null;
  let counted: Usage = { inputTokens: 0, outputTokens: 0 };
  let answeredBy: string | null = null;

  function show(visible: string): void {
    if (visible === '') return;
    text += visible;
    onText(visible);
  }

  function addCall(part: z.infer<typeof toolCallPart>): void {
    const index = part.index ?? (part.id ? calls.length : Math.max(0, calls.length - 1));
    let call = slots.get(index);
    // Some servers give every call of an answer the same index; a new id tells them apart.
    if (call === undefined || (part.id && call.id !== part.id && part.function?.name)) {
      call = { id: part.id || `call_${randomUUID()}`, name: '', arguments: '' };
      slots.set(index, call);
      calls.push(call);
    }
    call.name += part.function?.name ?? '';
    call.arguments += part.function?.arguments ?? '';
  }

  return {
    add(part) {
      if (part.model) answeredBy = part.model;
      if (part.usage) {
        counted = {
          inputTokens: part.usage.prompt_tokens ?? 0,
          outputTokens: part.usage.completion_tokens ?? 0,
        };
      }
      const first = part.choices?.[0];
      const said = first?.delta ?? first?.message;
      if (said?.content) show(filter.push(said.content));
      if (said?.refusal) show(filter.push(said.refusal));
      for (const call of said?.tool_calls ?? []) addCall(call);
      if (first?.finish_reason) finish = first.finish_reason;
    },
    finished: () => finish !== null,
    reply(model) {
      show(filter.end());
      return {
        text,
        toolCalls: calls,
        finishReason: reasonOf(finish, calls),
        usage: counted,
        model: answeredBy ?? model,
      };
    },
  };
}

function reasonOf(finish: string | null, calls: readonly ToolCall[]): ModelReply['finishReason'] {
  if (finish === 'length' || finish === 'content_filter') return finish;
  return calls.length > 0 ? 'tool_calls' : 'stop';
}

export interface BodyOptions {
  model: string;
  stream: boolean;
  maxTokens: number | undefined;
  temperature: number | undefined;
  /** OpenAI's own models want another name for the limit. */
  limitName: 'max_tokens' | 'max_completion_tokens';
}

/** The JSON text of one chat completions request. */
export function bodyOf(request: ModelRequest, options: BodyOptions): string {
  return JSON.stringify({
    model: options.model,
    stream: options.stream,
    stream_options: options.stream ? { include_usage: true } : undefined,
    messages: request.messages.map(wireMessage),
    tools: request.tools.length === 0 ? undefined : request.tools,
    temperature: options.temperature,
    [options.limitName]: options.maxTokens,
  });
}

function wireMessage(message: ChatMessage): object {
  switch (message.role) {
    case 'system':
      return message;
    case 'tool':
      return { role: 'tool', tool_call_id: message.toolCallId, content: message.content };
    case 'user':
      return typeof message.content === 'string'
        ? message
        : { role: 'user', content: message.content.map(wirePart) };
    case 'assistant':
      return {
        role: 'assistant',
        content: message.content === '' && message.toolCalls.length > 0 ? null : message.content,
        tool_calls: message.toolCalls.length === 0 ? undefined : message.toolCalls.map(wireCall),
      };
  }
}

function wirePart(part: Exclude<Extract<ChatMessage, { role: 'user' }>['content'], string>[number]): object {
  if (part.type === 'text') return part;
  return { type: 'image_url', image_url: { url: `data:${part.mimeType};base64,${part.base64}` } };
}

function wireCall(call: ToolCall): object {
  return { id: call.id, type: 'function', function: { name: call.name, arguments: call.arguments } };
}
