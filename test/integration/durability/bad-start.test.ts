import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openSqliteStore } from '../../../src/store/sqlite/store.ts';
import { freePort, startGatewayProcess } from '../../e2e/support/gateway-process.ts';
import { startTelegramEmulator } from '../../emulators/telegram/telegram-emulator.ts';
import { mountSmallDisk, type SmallDisk, whyNoSmallDisk } from './small-disk.ts';
import { startToEnd } from './start-to-end.ts';

describe('a start that cannot go on says why and what to do', () => {
  let home: string;
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'hermes-bad-start-'));
  });
  afterEach(() => rm(home, { recursive: true, force: true }));
  const port = async () => ({ GATEWAY_PORT: String(await freePort()) });

  it('with a damaged database: it is set aside, and the next start works', async () => {
    const path = join(home, 'state.db');
    const damaged = Buffer.alloc(20_000, 0x5a);
    await writeFile(path, damaged);
    const { code, output } = await startToEnd(home, await port());
    expect(code).toBe(78);
    const aside = (await readdir(home)).find((name) => name.includes('corrupt')) ?? '';
    expect(output).toContain(join(home, aside));
    expect(await readFile(join(home, aside))).toEqual(damaged);
    const gateway = await startGatewayProcess({ home });
    expect(existsSync(join(home, aside))).toBe(true);
    await gateway.dispose();
  });

  it('with a database of a newer version, which it leaves alone', async () => {
    const path = join(home, 'state.db');
    await openSqliteStore(path).close();
    const db = new DatabaseSync(path);
    db.exec('PRAGMA user_version = 999');
    db.close();
    const { code, output } = await startToEnd(home, await port());
    expect(code).not.toBe(0);
    expect(output).toContain('written by a newer version');
    expect(output).toContain('Start the newer version again');
    expect((await readdir(home)).filter((name) => name.includes('corrupt'))).toEqual([]);
  });

  it('with a broken configuration: the line and the key are named', async () => {
    await writeFile(join(home, 'config.yaml'), 'approvals:\n  mode: manual\n  timeout: soon\n');
    const { code, output } = await startToEnd(home, await port());
    expect(code).toBe(78);
    expect(output).toMatch(/config\.yaml, line 3: approvals\.timeout/);
  });

  it('with a port that is in use', async () => {
    const taken = createServer();
    const used = await freePort();
    await new Promise<void>((resolve) => taken.listen(used, '127.0.0.1', resolve));
    const { code, output } = await startToEnd(home, { GATEWAY_PORT: String(used) });
    taken.close();
    expect(code).toBe(75);
    expect(output).toContain(`Port ${used} on 127.0.0.1 is in use`);
    expect(output).toContain('GATEWAY_PORT');
  });

  it('on a home that another gateway uses, and with a token that another gateway uses', async () => {
    const telegram = await startTelegramEmulator();
    const env = { TELEGRAM_BOT_TOKEN: telegram.token, TELEGRAM_API_ROOT: telegram.apiRoot };
    const first = await startGatewayProcess({ env });
    try {
      const sameHome = await startToEnd(first.home, await port());
      expect(sameHome.code).not.toBe(0);
      expect(sameHome.output).toContain(`A gateway already runs on ${first.home} (pid ${first.pid})`);
      const sameToken = await startToEnd(home, { ...env, ...(await port()) });
      expect(sameToken.code).toBe(75);
      expect(sameToken.output).toContain(`(pid ${first.pid}) already uses this telegram bot token`);
      expect(sameToken.output).not.toContain(telegram.token);
      expect((await fetch(`${first.url}/readyz`)).status).toBe(200);
    } finally {
      await first.dispose();
      await telegram.close();
    }
  });

  describe.skipIf(whyNoSmallDisk() !== null)('on a disk', () => {
    async function on(work: (disk: SmallDisk) => Promise<void>): Promise<void> {
      const disk = mountSmallDisk(8);
      try {
        await work(disk);
      } finally {
        disk.dispose();
      }
    }

    it('that cannot be written', () =>
      on(async (disk) => {
        disk.makeReadOnly();
        const { code, output } = await startToEnd(disk.folder, await port());
        expect(code).not.toBe(0);
        expect(output).toContain('cannot be written');
        expect(output).toContain('HERMES_HOME');
        expect(output).not.toContain('    at ');
      }));

    it('that is full', () =>
      on(async (disk) => {
        disk.fill();
        const { code, output } = await startToEnd(disk.folder, await port());
        expect(code).not.toBe(0);
        expect(output).toMatch(/space/i);
        expect(output).not.toContain('    at ');
        disk.free();
        const gateway = await startGatewayProcess({ home: disk.folder });
        await gateway.stop();
      }));
  });
});
