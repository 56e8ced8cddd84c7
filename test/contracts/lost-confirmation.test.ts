import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Payload } from '../../platforms/platform.ts';
import { discordRig } from '../emulators/discord/rig.ts';
import { slackRig } from '../emulators/slack/rig.ts';
import { telegramRig } from '../emulators/telegram/rig.ts';
import type { PlatformRig } from './platform-contract.ts';
import { createRecordingSink } from './recording-sink.ts';

const rigs = {
  telegram: async () => (await telegramRig()).contract,
  discord: () => discordRig(),
  slack: () => slackRig(),
} as const;

/** What the gateway asks after a kill, and after a connection that broke: did it arrive? */
describe.each(Object.entries(rigs))('a message whose confirmation was lost on %s', (_name, start) => {
  let rig: PlatformRig;
  beforeEach(async () => {
    rig = await start();
    await rig.platform.connect(createRecordingSink(), [], AbortSignal.timeout(10_000));
  });
  afterEach(async () => {
    await rig.platform.disconnect();
    await rig.close();
    expect(rig.violations()).toEqual([]);
  });

  const signal = () => AbortSignal.timeout(10_000);
  function text(markdown: string): Payload {
    const [payload] = rig.platform.render({ kind: 'text', markdown });
    if (payload === undefined) throw new Error('nothing to send');
    return payload;
  }
  const send = (markdown: string, key: string) =>
    rig.platform.deliver(rig.chat, text(markdown), { key, signal: signal() });
  async function find(markdown: string, key: string, after: string): Promise<string | null> {
    const older = [{ chat: rig.chat, messageId: after }];
    return rig.platform.findDelivered(rig.chat, text(markdown), key, signal(), older);
  }
  const shown = () => rig.shown(rig.chat).map((message) => message.text);

  test('is found, and can be edited under the id that was found', async () => {
    const { messageId: before } = await send('before', 'a');
    rig.faults.dropAfterSend();
    await expect(send('did it arrive?', 'b')).rejects.toMatchObject({ code: 'send_unknown' });
    const found = await find('did it arrive?', 'b', before);
    if (found === null) throw new Error('not found');
    await rig.platform.edit(rig.chat, found, text('it did'), signal());
    expect(shown()).toEqual([expect.stringContaining('before'), expect.stringContaining('it did')]);
  });

  test('is not found when it never arrived, and nothing is changed by looking', async () => {
    const { messageId: before } = await send('before', 'a');
    expect(await find('never sent', 'b', before)).toBeNull();
    expect(shown()).toEqual([expect.stringContaining('before')]);
  });
});
