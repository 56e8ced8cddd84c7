import { describe, expect, test } from 'vitest';
import type { Clock } from '../../../../src/clock.ts';
import { systemClock } from '../../../../src/clock.ts';
import { GatewayError } from '../../../../src/errors.ts';
import { silentLog } from '../../../../src/log.ts';
import type { ModelClient, ModelReply, ModelRequest } from '../../../../src/model/model-client.ts';
import { createOpenAIModel, type OpenAIOptions } from '../../../../src/model/openai.ts';
import { createOpenAIEmulator, type OpenAIEmulator } from '../../../emulators/openai/emulator.ts';

const key = 'sk-test-0123456789abcdefghij';

/** Waits that are asked for are written down and take no time; limits of an attempt stay real. */
function hastyClock(): Clock & { waits: number[] } {
  const waits: number[] = [];
  return {
    waits,
    now: () => systemClock.now(),
    after(delayMs, task) {
      // Limits are set to minutes here, and pauses between attempts never reach that.
      if (delayMs >= 100_000) return systemClock.after(delayMs, task);
      waits.push(delayMs);
      return systemClock.after(0, task);
    },
  };
}

function clientOf(
  server: OpenAIEmulator | string,
  overrides: Partial<OpenAIOptions> = {},
  clock: Clock = hastyClock(),
): ModelClient {
  const minutes = { ceilingMs: 1_800_000, silenceMs: 120_000, staleMs: 180_000 };
  const options: OpenAIOptions = {
    model: 'big',
    baseUrl: typeof server === 'string' ? server : server.url,
    apiKey: key,
    keyName: 'OPENAI_API_KEY',
    contextTokens: 1000,
    retries: 3,
    limits: { streaming: minutes, whole: minutes },
    ...overrides,
  };
  return createOpenAIModel(options, { log: silentLog, clock });
}

interface Told {
  reply?: ModelReply;
  error?: GatewayError;
  /** What the person saw; `↺` where it was taken back. */
  shown: string;
}

async function ask(client: ModelClient, overrides: Partial<ModelRequest> = {}): Promise<Told> {
  let shown = '';
  const request: ModelRequest = {
    messages: [{ role: 'user', content: 'hello' }],
    tools: [],
    signal: new AbortController().signal,
    onText: (delta) => {
      shown += delta;
    },
    onRestart: () => {
      shown += '↺';
    },
    ...overrides,
  };
  try {
    return { reply: await client.complete(request), shown };
  } catch (error) {
    if (error instanceof GatewayError) return { error, shown };
    throw error;
  }
}

describe('an answer', () => {
  test('streams as text, with the usage that the provider counted', async () => {
    await using server = await createOpenAIEmulator();
    server.say({
      text: 'Hello, dear user.',
      pieceUnits: 4,
      usage: { prompt_tokens: 7, completion_tokens: 4 },
    });
    const { reply, shown } = await ask(clientOf(server));
    expect(reply).toEqual({
      text: 'Hello, dear user.',
      toolCalls: [],
      finishReason: 'stop',
      usage: { inputTokens: 7, outputTokens: 4 },
      model: 'big',
    });
    expect(shown).toBe('Hello, dear user.');
  });

  test('assembles several tool calls from their pieces', async () => {
    await using server = await createOpenAIEmulator();
    const toolCalls = [
      { id: 'a', name: 'terminal', arguments: '{"command":"ls"}' },
      { id: 'b', name: 'read_file', arguments: '{"path":"x"}' },
    ];
    server.say({ text: 'Looking.', toolCalls, pieceUnits: 3 });
    expect((await ask(clientOf(server))).reply).toMatchObject({
      text: 'Looking.',
      toolCalls,
      finishReason: 'tool_calls',
    });
  });

  test('keeps malformed arguments as the model wrote them', async () => {
    await using server = await createOpenAIEmulator();
    server.say({ toolCalls: [{ id: 'a', name: 'terminal', arguments: '{"command": "l' }] });
    expect((await ask(clientOf(server))).reply?.toolCalls[0]?.arguments).toBe('{"command": "l');
  });

  test('never shows reasoning in think tags', async () => {
    await using server = await createOpenAIEmulator();
    server.say({ text: '<think>secret plan</think>\n\nThe answer.', pieceUnits: 3 });
    const { reply, shown } = await ask(clientOf(server));
    expect([reply?.text, shown]).toEqual(['The answer.', 'The answer.']);
  });

  test('survives letters that are split over packets', async () => {
    await using server = await createOpenAIEmulator();
    server.say({ text: 'Привет, 👩‍👩‍👧 мир', pieceUnits: 1, pauseMs: 0 });
    expect((await ask(clientOf(server))).reply?.text).toBe('Привет, 👩‍👩‍👧 мир');
  });

  test('that was cut by its length says so', async () => {
    await using server = await createOpenAIEmulator();
    server.say({ text: 'and so', finishReason: 'length' });
    expect((await ask(clientOf(server))).reply?.finishReason).toBe('length');
  });
});

test('a request carries messages, calls, results, images and tools in the provider’s form', async () => {
  await using server = await createOpenAIEmulator();
  const call = { id: 'c1', name: 'terminal', arguments: '{}' };
  const parameters = { type: 'object', properties: {} };
  const tool = { type: 'function' as const, function: { name: 'terminal', description: 'd', parameters } };
  await ask(clientOf(server), {
    messages: [
      { role: 'system', content: 's' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'see' },
          { type: 'image', mimeType: 'image/png', base64: 'AA==' },
        ],
      },
      { role: 'assistant', content: '', toolCalls: [call] },
      { role: 'tool', toolCallId: 'c1', content: 'done' },
    ],
    tools: [tool],
    temperature: 0,
    maxTokens: 16,
  });
  expect(server.requests[0]?.authorization).toBe(`Bearer ${key}`);
  expect(server.requests[0]?.body).toEqual({
    model: 'big',
    stream: true,
    stream_options: { include_usage: true },
    temperature: 0,
    max_tokens: 16,
    tools: [tool],
    messages: [
      { role: 'system', content: 's' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'see' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } },
        ],
      },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c1', type: 'function', function: { name: 'terminal', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 'c1', content: 'done' },
    ],
  });
});

describe('a refusal', () => {
  test('of the key names the variable to check and never the key', async () => {
    await using server = await createOpenAIEmulator();
    server.requireKey('another');
    const { error } = await ask(clientOf(server));
    expect(error).toMatchObject({ code: 'model_unauthorized', retryable: false });
    expect(error?.message).toContain('refused the key (401');
    expect(error?.mend).toContain('OPENAI_API_KEY');
    expect(`${error?.message}${error?.mend}${error?.stack}`).not.toContain(key);
    expect(server.requests).toHaveLength(1);
  });

  test('of the request is not tried again and quotes the provider without secrets', async () => {
    await using server = await createOpenAIEmulator();
    server.fail({ kind: 'status', status: 400, message: `bad field near ${key}` });
    const { error } = await ask(clientOf(server));
    expect(error).toMatchObject({ code: 'model_rejected', retryable: false });
    expect(error?.message).toContain('bad field near [redacted]');
    expect(server.requests).toHaveLength(1);
  });

  test.each([
    { status: 413, message: 'too large' },
    {
      status: 400,
      message: "This model's maximum context length is 8192 tokens",
      code: 'context_length_exceeded',
    },
  ])('for length ($status) is told apart', async (fault) => {
    await using server = await createOpenAIEmulator();
    server.fail({ kind: 'status', ...fault });
    expect((await ask(clientOf(server))).error?.code).toBe('model_context_exceeded');
  });

  test('by something that is no model server points at the address', async () => {
    await using server = await createOpenAIEmulator();
    server.fail({ kind: 'garbage' });
    expect((await ask(clientOf(server))).error).toMatchObject({
      code: 'model_rejected',
      mend: expect.stringContaining('OPENAI_BASE_URL'),
    });
  });
});

describe('trouble that passes', () => {
  test('429 waits for as long as Retry-After says', async () => {
    await using server = await createOpenAIEmulator();
    const clock = hastyClock();
    server.fail({ kind: 'status', status: 429, retryAfter: 7 });
    expect((await ask(clientOf(server, {}, clock))).reply?.text).toBe('ok');
    expect(clock.waits).toHaveLength(1);
    expect(clock.waits[0]).toBeGreaterThanOrEqual(7000);
    expect(clock.waits[0]).toBeLessThan(7500);
  });

  test('429 that asks for more patience than a chat has is told at once', async () => {
    await using server = await createOpenAIEmulator();
    server.fail({ kind: 'status', status: 429, retryAfter: 3600 });
    expect((await ask(clientOf(server))).error).toMatchObject({
      code: 'model_rate_limited',
      retryAfterMs: 3_600_000,
    });
    expect(server.requests).toHaveLength(1);
  });

  test('500 is tried again with growing pauses, and told when it stays', async () => {
    await using server = await createOpenAIEmulator();
    const clock = hastyClock();
    server.fail({ kind: 'status', status: 500 }, 4);
    const { error } = await ask(clientOf(server, {}, clock));
    expect(error).toMatchObject({ code: 'model_unavailable', retryable: true });
    expect(server.requests).toHaveLength(4);
    const [first = 0, second = 0, third = 0] = clock.waits;
    expect([first < second, second < third, first >= 750]).toEqual([true, true, true]);
  });

  test('a dropped connection is tried again', async () => {
    await using server = await createOpenAIEmulator();
    server.fail({ kind: 'hangUp' });
    expect((await ask(clientOf(server))).reply?.text).toBe('ok');
  });

  test('nobody at the address is told with the host and what to check', async () => {
    const server = await createOpenAIEmulator();
    await server.close();
    const { error } = await ask(clientOf(server.url));
    expect(error).toMatchObject({
      code: 'model_unavailable',
      mend: expect.stringContaining('OPENAI_BASE_URL'),
    });
    expect(error?.message).toContain('ECONNREFUSED');
  });

  test('half a stream is taken back and asked for again', async () => {
    await using server = await createOpenAIEmulator();
    server.fail({ kind: 'cut', afterChunks: 3 });
    server.say({ text: 'half of it', pieceUnits: 5 }, { text: 'all of it' });
    const { reply, shown } = await ask(clientOf(server));
    expect(reply?.text).toBe('all of it');
    expect(shown).toBe('half of it↺all of it');
  });

  test('a stream that keeps breaking is asked for in one piece', async () => {
    await using server = await createOpenAIEmulator();
    server.fail({ kind: 'cut', afterChunks: 2 }, 4);
    const { reply } = await ask(clientOf(server));
    expect(reply?.text).toBe('ok');
    expect(server.requests.map(({ body }) => body.stream)).toEqual([true, true, true, true, false]);
  });

  test('an error within the stream is tried again', async () => {
    await using server = await createOpenAIEmulator();
    server.fail({ kind: 'streamError', message: 'overloaded' });
    expect((await ask(clientOf(server))).reply?.text).toBe('ok');
  });

  test('a kept connection that the server has closed costs no pause', async () => {
    await using server = await createOpenAIEmulator();
    const clock = hastyClock();
    const client = clientOf(server, {}, clock);
    await ask(client);
    server.dropConnections();
    expect((await ask(client)).reply?.text).toBe('ok');
    expect(clock.waits).toEqual([]);
  });
});

describe('time limits', () => {
  test('a stream that falls silent is given up and asked for again', async () => {
    await using server = await createOpenAIEmulator();
    server.fail({ kind: 'silence', afterChunks: 2 });
    const limits = { ceilingMs: 0, silenceMs: 40, staleMs: 0 };
    const client = clientOf(server, { limits: { streaming: limits, whole: limits } }, systemClock);
    expect((await ask(client)).reply?.text).toBe('ok');
    expect(server.requests).toHaveLength(2);
  });
});

describe('cancelling', () => {
  test('ends a call that streams, and the provider sees it go', async () => {
    await using server = await createOpenAIEmulator();
    server.fail({ kind: 'silence', afterChunks: 3 });
    server.say({ text: 'and so on', pieceUnits: 2 });
    const stop = new AbortController();
    const { error } = await ask(clientOf(server), { signal: stop.signal, onText: () => stop.abort() });
    expect(error?.code).toBe('cancelled');
  });

  test('ends a pause between attempts', async () => {
    await using server = await createOpenAIEmulator();
    server.fail({ kind: 'status', status: 429, retryAfter: 50 });
    const stop = new AbortController();
    const clock: Clock = {
      now: () => systemClock.now(),
      after(delayMs, task) {
        if (delayMs >= 50_000 && delayMs < 60_000) queueMicrotask(() => stop.abort());
        return systemClock.after(delayMs, task);
      },
    };
    expect((await ask(clientOf(server, {}, clock), { signal: stop.signal })).error?.code).toBe('cancelled');
  });

  test('before the call makes no request', async () => {
    await using server = await createOpenAIEmulator();
    expect((await ask(clientOf(server), { signal: AbortSignal.abort() })).error?.code).toBe('cancelled');
    expect(server.requests).toEqual([]);
  });
});
