import { describe, expect, test } from 'vitest';
import { systemClock } from '../../../../src/clock.ts';
import { type ErrorCode, GatewayError } from '../../../../src/errors.ts';
import { silentLog } from '../../../../src/log.ts';
import { createFallback } from '../../../../src/model/fallback.ts';
import type { ModelClient } from '../../../../src/model/model-client.ts';

/** A model that shows a word and then fails with each code in turn; after those it answers with its name. */
function model(name: string, failures: ErrorCode[] = []): ModelClient & { calls: number } {
  return {
    model: name,
    contextTokens: 1000,
    calls: 0,
    async complete(request) {
      this.calls += 1;
      request.onText?.(name);
      const code = failures.shift();
      if (code !== undefined) throw new GatewayError(code, `${name} failed`);
      return {
        text: name,
        toolCalls: [],
        finishReason: 'stop',
        usage: { inputTokens: 0, outputTokens: 0 },
        model: name,
      };
    },
  };
}

function clockAt(times: { now: number }) {
  return { now: () => times.now, after: systemClock.after };
}

const request = () => ({ messages: [], tools: [], signal: new AbortController().signal });

describe('fallback providers', () => {
  test.each(['model_unavailable', 'model_rate_limited', 'model_unauthorized'] as const)(
    'the next one answers after %s',
    async (code) => {
      const client = createFallback([model('a', [code]), model('b')], { log: silentLog, clock: systemClock });
      expect((await client.complete(request())).model).toBe('b');
    },
  );

  test.each(['model_rejected', 'model_context_exceeded', 'cancelled'] as const)(
    'none is asked after %s',
    async (code) => {
      const second = model('b');
      const client = createFallback([model('a', [code]), second], { log: silentLog, clock: systemClock });
      await expect(client.complete(request())).rejects.toMatchObject({ code });
      expect(second.calls).toBe(0);
    },
  );

  test('what the failed one had shown is taken back', async () => {
    let shown = '';
    const client = createFallback([model('a', ['model_unavailable']), model('b')], {
      log: silentLog,
      clock: systemClock,
    });
    await client.complete({
      ...request(),
      onText: (delta) => {
        shown += delta;
      },
      onRestart: () => {
        shown += '↺';
      },
    });
    expect(shown).toBe('a↺b');
  });

  test('when all fail, the first one’s failure is told', async () => {
    const clients = [model('a', ['model_unauthorized']), model('b', ['model_unavailable'])] as const;
    const client = createFallback(clients, { log: silentLog, clock: systemClock });
    await expect(client.complete(request())).rejects.toMatchObject({ message: 'a failed' });
  });

  test('a failed one rests for a minute and is then the first choice again', async () => {
    const time = { now: 1_000_000 };
    const first = model('a', ['model_unavailable']);
    const client = createFallback([first, model('b')], { log: silentLog, clock: clockAt(time) });
    const answers = [];
    for (const pause of [0, 1000, 60_000]) {
      time.now += pause;
      answers.push((await client.complete(request())).model);
    }
    expect(answers).toEqual(['b', 'b', 'a']);
  });
});
