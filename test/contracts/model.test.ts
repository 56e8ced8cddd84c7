import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { silentLog } from '../../src/log.ts';
import type { ModelReply, ModelRequest } from '../../src/model/model-client.ts';
import { createOpenAIModel } from '../../src/model/openai.ts';
import { createOpenAIEmulator } from '../emulators/openai/emulator.ts';
import type { ScriptedReply } from '../emulators/openai/reply.ts';

const tool = {
  type: 'function',
  function: {
    name: 'terminal',
    description: 'Runs a command.',
    parameters: { type: 'object', properties: { command: { type: 'string' } } },
  },
} as const;

const request: Omit<ModelRequest, 'signal'> = {
  messages: [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'list' },
    {
      role: 'assistant',
      content: '',
      toolCalls: [{ id: 'call_1', name: 'terminal', arguments: '{"command":"ls"}' }],
    },
    { role: 'tool', toolCallId: 'call_1', content: '{"output":"a b"}' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'and this?' },
        { type: 'image', mimeType: 'image/png', base64: 'iVBORw0KGgo=' },
      ],
    },
  ],
  tools: [tool],
  temperature: 0,
  maxTokens: 16,
};

/** The same request as the official client's types want it. */
const official: OpenAI.ChatCompletionCreateParamsStreaming = {
  model: 'big',
  messages: [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'list' },
    {
      role: 'assistant',
      content: null,
      tool_calls: [
        { id: 'call_1', type: 'function', function: { name: 'terminal', arguments: '{"command":"ls"}' } },
      ],
    },
    { role: 'tool', tool_call_id: 'call_1', content: '{"output":"a b"}' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'and this?' },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } },
      ],
    },
  ],
  tools: [{ ...tool, function: { ...tool.function, parameters: { ...tool.function.parameters } } }],
  temperature: 0,
  max_tokens: 16,
  stream: true,
  stream_options: { include_usage: true },
};

const answers: Record<string, ScriptedReply> = {
  'text, cut anywhere': { text: 'Grüße 👋🏽 to you', pieceUnits: 1 },
  'two calls at once': {
    text: 'I look.',
    toolCalls: [
      { id: 'a', name: 'terminal', arguments: '{"command":"ls -la"}' },
      { id: 'b', name: 'read_file', arguments: '{"path":"x"}' },
    ],
    pieceUnits: 3,
  },
  'an answer cut off at its limit': {
    text: 'half of',
    finishReason: 'length',
    usage: { prompt_tokens: 7, completion_tokens: 16 },
  },
};

/** Our client stands in for the official one (docs/decisions/005-model-client.md), so it has to speak and hear as that does. */
describe('the model client beside the official one', () => {
  it.each(Object.entries(answers))('asks the same and hears the same: %s', async (_name, answer) => {
    await using server = await createOpenAIEmulator();
    server.say(answer, answer);
    const heard = await viaOurs(server.url);
    expect(heard).toEqual(await viaOfficial(server.url));

    const [asked, askedOfficially] = server.requests;
    expect(asked).toEqual(askedOfficially);
  });
});

async function viaOurs(baseUrl: string): Promise<ModelReply> {
  const minutes = { ceilingMs: 60_000, silenceMs: 60_000, staleMs: 60_000 };
  const client = createOpenAIModel(
    {
      model: 'big',
      baseUrl,
      apiKey: 'sk-test',
      keyName: 'OPENAI_API_KEY',
      contextTokens: 1000,
      retries: 0,
      limits: { streaming: minutes, whole: minutes },
    },
    { log: silentLog, clock: systemClock },
  );
  return client.complete({ ...request, signal: new AbortController().signal, onText: () => undefined });
}

async function viaOfficial(baseURL: string): Promise<ModelReply> {
  const client = new OpenAI({ baseURL, apiKey: 'sk-test', maxRetries: 0 });
  const { choices, usage, model } = await client.chat.completions.stream(official).finalChatCompletion();
  const choice = choices[0];
  const finish = choice?.finish_reason;
  if (choice === undefined || finish === undefined || finish === 'function_call')
    throw new Error('no answer');
  return {
    text: choice.message.content ?? '',
    toolCalls: (choice.message.tool_calls ?? []).flatMap((call) =>
      call.type === 'function'
        ? [{ id: call.id, name: call.function.name, arguments: call.function.arguments }]
        : [],
    ),
    finishReason: finish,
    usage: { inputTokens: usage?.prompt_tokens ?? 0, outputTokens: usage?.completion_tokens ?? 0 },
    model,
  };
}
