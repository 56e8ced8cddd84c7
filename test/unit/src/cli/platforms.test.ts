import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openPlatforms } from '../../../../src/cli/platforms.ts';
import { systemClock } from '../../../../src/clock.ts';
import { configSchema } from '../../../../src/config/schema.ts';
import { silentLog } from '../../../../src/log.ts';
import { createGuard } from '../../../../src/server/guard.ts';
import { openSqliteStore } from '../../../../src/store/sqlite/store.ts';
import { createRecordingSink } from '../../../contracts/recording-sink.ts';
import { type DiscordEmulator, startDiscordEmulator } from '../../../emulators/discord/discord-emulator.ts';

/** The adapters that a configuration opens; the web page is off. */
async function open(config: Record<string, unknown>) {
  const home = await mkdtemp(join(tmpdir(), 'hermes-platforms-'));
  const store = openSqliteStore(join(home, 'state.db'));
  const opened = await openPlatforms({
    home,
    config: configSchema.parse({ web: { enabled: false }, ...config }),
    guard: createGuard({ token: 'a-token-for-tests', host: '127.0.0.1', clock: systemClock }),
    log: silentLog,
    clock: systemClock,
    store,
  });
  onTestFinished(async () => {
    for (const platform of opened.values()) await platform.disconnect();
    await store.close();
    await rm(home, { recursive: true, force: true });
  });
  return opened;
}

async function connectDiscord(emulator: DiscordEmulator, config: Record<string, unknown>): Promise<void> {
  const opened = await open({ discord: { token: emulator.token, api_root: emulator.apiRoot, ...config } });
  await opened.get('discord')?.connect(createRecordingSink(), [], AbortSignal.timeout(10_000));
}

describe('discord.shards', () => {
  it.each([
    ['one connection by default', {}, 1],
    ['as many connections as it says', { shards: 2 }, 2],
    ['as many as Discord advises', { shards: 'auto' }, 3],
  ])('opens %s', async (_what, config, connections) => {
    const emulator = await startDiscordEmulator();
    onTestFinished(emulator.close);
    emulator.world.advisedShards = 3;
    await connectDiscord(emulator, config);
    expect(emulator.gateway.identifies()).toBe(connections);
  });

  it.each([0, 1.5, 'many'])('cannot be %s', (shards) => {
    expect(configSchema.safeParse({ discord: { shards } }).success).toBe(false);
  });
});

describe('pace: off', () => {
  const tokens = {
    telegram: { token: '1:a' },
    discord: { token: 'a.b.c' },
    slack: { token: 'xoxb-1', app_token: 'xapp-1' },
  };

  it.each(['telegram', 'discord', 'slack'] as const)('lets %s send as fast as it can', async (name) => {
    const paceWith = async (change: Record<string, unknown>) =>
      (await open({ [name]: { ...tokens[name], ...change } })).get(name)?.capabilities.pace.perChatPerSecond;
    expect(await paceWith({})).toBe(1);
    expect(await paceWith({ pace: 'off' })).toBe(Number.POSITIVE_INFINITY);
  });
});
