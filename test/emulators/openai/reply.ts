/** What the fake model says to one request. */
export interface ScriptedReply {
  text?: string;
  toolCalls?: readonly { id?: string; name: string; arguments: string }[];
  finishReason?: 'stop' | 'tool_calls' | 'length' | 'content_filter';
  usage?: { prompt_tokens: number; completion_tokens: number };
  /** Sizes of the streamed pieces of text and arguments, in UTF-16 units. */
  pieceUnits?: number;
  /** Waits before each piece. */
  pauseMs?: number;
}

/** One request as it arrived. */
export interface ChatRequest {
  model: string;
  stream: boolean;
  messages: readonly { role: string; content: unknown; tool_call_id?: string; tool_calls?: unknown }[];
  tools?: readonly unknown[];
  [key: string]: unknown;
}

/** The JSON objects of a streamed answer, in order, as chat completion chunks. */
export function chunksOf(reply: ScriptedReply, model: string, id: string): object[] {
  const units = reply.pieceUnits ?? 12;
  const finish = reply.finishReason ?? (reply.toolCalls === undefined ? 'stop' : 'tool_calls');
  const chunk = (delta: object, finishReason: string | null = null) => ({
    id,
    object: 'chat.completion.chunk',
    created: 1_700_000_000,
    model,
    choices: [{ index: 0, delta, finish_reason: finishReason }],
  });
  const chunks: object[] = [chunk({ role: 'assistant', content: '' })];
  for (const piece of pieces(reply.text ?? '', units)) chunks.push(chunk({ content: piece }));
  for (const [index, call] of (reply.toolCalls ?? []).entries()) {
    const head = {
      index,
      id: call.id ?? `call_${id}_${index}`,
      type: 'function',
      function: { name: call.name, arguments: '' },
    };
    chunks.push(chunk({ tool_calls: [head] }));
    for (const piece of pieces(call.arguments, units)) {
      chunks.push(chunk({ tool_calls: [{ index, function: { arguments: piece } }] }));
    }
  }
  chunks.push(chunk({}, finish));
  chunks.push({ ...chunk({}), choices: [], usage: usageOf(reply) });
  return chunks;
}

/** The same answer in one piece. */
export function completionOf(reply: ScriptedReply, model: string, id: string): object {
  const toolCalls = reply.toolCalls?.map((call, index) => ({
    id: call.id ?? `call_${id}_${index}`,
    type: 'function',
    function: { name: call.name, arguments: call.arguments },
  }));
  return {
    id,
    object: 'chat.completion',
    created: 1_700_000_000,
    model,
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: reply.text ?? null,
          ...(toolCalls && { tool_calls: toolCalls }),
        },
        finish_reason: reply.finishReason ?? (toolCalls === undefined ? 'stop' : 'tool_calls'),
      },
    ],
    usage: usageOf(reply),
  };
}

function usageOf(reply: ScriptedReply): object {
  const usage = reply.usage ?? { prompt_tokens: 10, completion_tokens: 5 };
  return { ...usage, total_tokens: usage.prompt_tokens + usage.completion_tokens };
}

function pieces(text: string, units: number): string[] {
  return Array.from({ length: Math.ceil(text.length / units) }, (_, i) =>
    text.slice(i * units, (i + 1) * units),
  );
}
