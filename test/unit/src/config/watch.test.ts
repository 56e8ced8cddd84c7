import { describe, expect, test, vi } from 'vitest';
import { systemClock } from '../../../../src/clock.ts';
import type { LoadedConfig } from '../../../../src/config/load.ts';
import { watchConfig } from '../../../../src/config/watch.ts';
import type { GatewayError } from '../../../../src/errors.ts';
import { type TestHome, testHome } from './home.ts';

async function watched(home: TestHome) {
  const changes: LoadedConfig[] = [];
  const faults: GatewayError[] = [];
  const watch = watchConfig({
    load: { home: home.path, env: {} },
    loaded: await home.load(),
    clock: systemClock,
    onChange: (loaded) => changes.push(loaded),
    onBroken: (error) => faults.push(error),
    pollMs: 20,
  });
  return { watch, changes, faults, [Symbol.dispose]: () => watch.close() };
}

describe('a change on disk', () => {
  test('comes into force by itself', async () => {
    await using home = await testHome('edits: ignore\n');
    using seen = await watched(home);
    await home.write('edits: rerun\nlog_level: warn\n');
    await vi.waitFor(() => expect(seen.changes).toHaveLength(1), { timeout: 5000 });
    expect(seen.watch.current().config).toMatchObject({ edits: 'rerun', log_level: 'warn' });
  });

  test('of .env does too, and a file may appear later', async () => {
    await using home = await testHome();
    using seen = await watched(home);
    await home.writeEnv('LOG_LEVEL=debug\n');
    await vi.waitFor(() => expect(seen.watch.current().config.log_level).toBe('debug'), { timeout: 5000 });
  });

  test('that breaks the file leaves the last good configuration in force, and is told once', async () => {
    await using home = await testHome('edits: rerun\n');
    using seen = await watched(home);
    await home.write('edits: [\n');
    await seen.watch.reload();
    await seen.watch.reload();
    expect(seen.watch.current().config.edits).toBe('rerun');
    expect(seen.faults.map(({ message }) => message)).toEqual([expect.stringContaining('line')]);
    expect(seen.changes).toEqual([]);
  });

  test('that mends the file is told, though nothing differs from before', async () => {
    await using home = await testHome('edits: rerun\n');
    using seen = await watched(home);
    await home.write('edits: [\n');
    await seen.watch.reload();
    await home.write('edits: rerun\n');
    await seen.watch.reload();
    expect(seen.changes).toHaveLength(1);
  });

  test('of comments alone is nobody’s business', async () => {
    await using home = await testHome('edits: rerun\n');
    using seen = await watched(home);
    await home.write('edits: rerun # again\n');
    await seen.watch.reload();
    expect(seen.changes).toEqual([]);
  });
});
