import { describe, expect, test } from 'vitest';
import { systemClock } from '../../../../src/clock.ts';
import { configSchema } from '../../../../src/config/schema.ts';
import { silentLog } from '../../../../src/log.ts';
import { createModel } from '../../../../src/model/index.ts';
import { createOpenAIEmulator } from '../../../emulators/openai/emulator.ts';

function modelFor(raw: object) {
  return createModel({
    config: configSchema.parse({ agent: { api_max_retries: 0 }, ...raw }),
    log: silentLog,
    clock: systemClock,
  });
}

const hello = () => ({
  messages: [{ role: 'user' as const, content: 'hello' }],
  tools: [],
  signal: new AbortController().signal,
});

describe('which model answers', () => {
  test('without a key and an address: the demo model', () => {
    expect(modelFor({}).model).toBe('demo');
    expect(modelFor({ model: 'some-model' }).model).toBe('demo');
  });

  test('demo by name, key or not', () => {
    expect(modelFor({ model: { name: 'demo', api_key: 'k' } }).model).toBe('demo');
  });

  test('with a key: the named one', () => {
    const model = modelFor({ model: { name: 'x', api_key: 'k', context_tokens: 5 } });
    expect([model.model, model.contextTokens]).toEqual(['x', 5]);
  });

  test('a server of one’s own needs no key', async () => {
    await using server = await createOpenAIEmulator();
    const reply = await modelFor({ model: { name: 'x', base_url: `${server.url}/` } }).complete(hello());
    expect([reply.text, server.requests[0]?.authorization]).toEqual(['ok', undefined]);
  });
});

describe('fallback providers', () => {
  test('get the key only when they live on the same server', async () => {
    await using own = await createOpenAIEmulator();
    await using other = await createOpenAIEmulator();
    own.fail({ kind: 'status', status: 500 }, 2);
    const model = modelFor({
      model: { name: 'a', base_url: own.url, api_key: 'the-key-of-own' },
      fallback_providers: ['b', { model: 'c', base_url: other.url }],
    });
    expect((await model.complete(hello())).model).toBe('c');
    const seen = [...own.requests, ...other.requests].map(({ body, authorization }) => [
      body.model,
      authorization,
    ]);
    expect(seen).toEqual([
      ['a', 'Bearer the-key-of-own'],
      ['b', 'Bearer the-key-of-own'],
      ['c', undefined],
    ]);
  });
});
