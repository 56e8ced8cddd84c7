import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { PlatformSink } from '../../platforms/platform.ts';
import type { PlatformRig } from './platform-contract.ts';
import { createRecordingSink, type RecordingSink } from './recording-sink.ts';

/**
 * What came while the adapter was not connected reaches the gateway after all: the platform keeps it
 * (`capabilities.replaysMissed`), or the adapter asks for it when it connects.
 */
export function catchUpContract(name: string, start: () => Promise<PlatformRig>): void {
  describe(`catching up on ${name}`, () => {
    let rig: PlatformRig;
    let sink: RecordingSink;

    beforeEach(async () => {
      rig = await start();
      sink = await connect();
    });
    afterEach(async () => {
      await rig.platform.disconnect();
      await rig.close();
      expect(rig.violations()).toEqual([]);
    });

    async function connect(): Promise<RecordingSink> {
      const fresh = createRecordingSink();
      await rig.platform.connect(fresh, [], AbortSignal.timeout(10_000));
      return fresh;
    }
    const texts = (where: RecordingSink) => where.events.map(({ text }) => text);

    test('what was said while it was away arrives, in order, after it is back', async () => {
      await rig.says('before');
      await sink.event('before');
      await rig.platform.disconnect();
      for (const text of ['away 1', 'away 2', 'away 3']) await rig.says(text);
      const back = await connect();
      await back.event('away 3');
      expect(texts(back).filter((text) => text.startsWith('away'))).toEqual(['away 1', 'away 2', 'away 3']);
    });

    test('what could not be stored is not taken for seen', async () => {
      await rig.says('before');
      await sink.event('before');
      await rig.platform.disconnect();
      await rig.says('away');
      const refused = Promise.withResolvers<void>();
      const full: PlatformSink = {
        ...createRecordingSink(),
        async receive() {
          refused.resolve();
          throw new Error('the disk is full');
        },
      };
      // Where catching up is a part of connecting, that fails too.
      await Promise.allSettled([
        rig.platform.connect(full, [], AbortSignal.timeout(10_000)),
        refused.promise,
      ]);
      await rig.platform.disconnect();
      const back = await connect();
      await back.event('away');
    });

    test('an event that comes twice bears the same id both times', async () => {
      await rig.says('before');
      const before = await sink.event('before');
      await rig.platform.disconnect();
      await rig.says('away');
      const back = await connect();
      const away = await back.event('away');
      await rig.redeliver();
      await rig.says('after');
      await back.event('after');
      const again = back.events.filter(({ text }) => text === 'away' || text === 'before');
      for (const event of again)
        expect(event.eventId).toBe(event.text === 'away' ? away.eventId : before.eventId);
    });
  });
}
