import { describe, expect, it } from 'vitest';
import type { PlatformSink } from '../../../../platforms/platform.ts';
import { GatewayError } from '../../../../src/errors.ts';
import { createSupervisor } from '../../../../src/gateway/supervisor.ts';
import { silentLog } from '../../../../src/log.ts';
import { createMemoryPlatform } from '../../../support/memory-platform.ts';
import { createTestClock } from '../../../support/test-clock.ts';

const aliveEveryMs = 30_000;

describe('the supervisor', () => {
  /** A platform that fails to connect with each of `failures` first, and says what happens to its connection. */
  function setUp(failures: GatewayError[] = []) {
    const clock = createTestClock();
    const happened: string[] = [];
    let sink: PlatformSink | null = null;
    const memory = createMemoryPlatform('telegram', { aliveEveryMs });
    const platform = {
      ...memory,
      async connect(given: PlatformSink) {
        sink = given;
        const failure = failures.shift();
        happened.push(failure ? 'failed' : 'opened');
        if (failure) throw failure;
        sink.report({ state: 'connected', account: 'bot' });
      },
      async disconnect() {
        happened.push('disconnected');
      },
    };
    const supervisor = createSupervisor({
      clock,
      log: silentLog,
      platforms: new Map([['telegram', platform]]),
      sink: { receive: async () => undefined, press: async () => ({ text: '', alert: false }) },
      commandsFor: () => [],
      onChange() {
        happened.push(supervisor?.health()[0]?.state.state ?? '');
      },
    });
    return {
      clock,
      supervisor,
      happened,
      beat: () => sink?.alive(),
      connections: () => happened.filter((what) => what === 'opened'),
    };
  }
  const down = () => new GatewayError('platform_unreachable', 'no network', { retryable: true });

  it('connects a platform anew that is silent for three of its intervals, and says so', async () => {
    const { clock, supervisor, happened } = setUp();
    await supervisor.start();
    happened.length = 0;
    await clock.advance(3 * aliveEveryMs);
    expect(happened).toEqual([]);
    expect(supervisor.longestSilenceMs()).toBe(3 * aliveEveryMs);
    await clock.advance(aliveEveryMs);
    expect(happened.filter((what) => what === 'disconnected')).toHaveLength(1);
    expect(happened.filter((what) => what === 'opened')).toHaveLength(1);
    expect(happened.indexOf('retrying')).toBeLessThan(happened.indexOf('disconnected'));
    expect(supervisor.unready()).toEqual([]);
    expect(supervisor.longestSilenceMs()).toBe(0);
    await supervisor.stop();
  });

  it('leaves a platform alone that gives signs of life', async () => {
    const { clock, supervisor, connections, beat } = setUp();
    await supervisor.start();
    for (let beats = 0; beats < 20; beats += 1) {
      await clock.advance(aliveEveryMs);
      beat();
    }
    expect(connections()).toHaveLength(1);
    expect(supervisor.health()[0]?.lastAliveAt).toBe(clock.now());
    await supervisor.stop();
  });

  it('tries a connection again that failed for a reason which may pass', async () => {
    const { clock, supervisor } = setUp([down(), down()]);
    await supervisor.start();
    expect(supervisor.unready()).toEqual(['telegram is retrying: no network']);
    await clock.advance(1_000 + 2_000);
    expect(supervisor.unready()).toEqual([]);
    await supervisor.stop();
  });

  it('turns a platform off whose token is wrong, and does not try again', async () => {
    const wrong = new GatewayError('token_invalid', 'The token is wrong.', { mend: 'Set another.' });
    const { clock, supervisor, connections } = setUp([wrong]);
    await supervisor.start();
    await clock.advance(10 * aliveEveryMs);
    expect(supervisor.health()[0]?.state).toEqual({
      state: 'fatal',
      code: 'token_invalid',
      reason: 'The token is wrong.',
      mend: 'Set another.',
    });
    expect(connections()).toEqual([]);
    await supervisor.stop();
  });
});
