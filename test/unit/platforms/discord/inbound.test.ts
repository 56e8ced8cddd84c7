import { afterEach, describe, expect, it } from 'vitest';
import { channelTypes } from '../../../emulators/discord/discord-emulator.ts';
import { type Rig, type RigOptions, startRig, until } from './rig.ts';

const open: Rig[] = [];

async function connected(options: RigOptions = {}): Promise<Rig> {
  const rig = await startRig(options);
  open.push(rig);
  await rig.connect();
  return rig;
}

afterEach(async () => {
  for (const rig of open.splice(0)) {
    await rig.close();
    expect(rig.emulator.violations()).toEqual([]);
  }
});

/** Says something that passes the gate everywhere, and waits for it: whatever was said before is then settled. */
async function settled({ emulator, sink }: Rig): Promise<void> {
  emulator.addUser('Zed').says('settled');
  await until(() => sink.events.some(({ text }) => text === 'settled'));
}

describe('messages to the Discord bot', () => {
  it('a direct message reaches the gateway as it was written', async () => {
    const rig = await connected();
    const ann = rig.emulator.addUser('Ann');
    const said = ann.says('hello **there**');
    const event = await until(() => rig.sink.events[0]);
    expect(event).toMatchObject({
      eventId: `m${said.id}`,
      kind: 'message',
      chat: { platform: 'discord', kind: 'dm', chatId: ann.dm().id },
      sender: { id: ann.id, name: 'Ann', isBot: false },
      text: 'hello **there**',
      addressed: true,
    });
  });

  it('in a channel only what names the bot is heard', async () => {
    const rig = await connected({ discord: { autoThread: false } });
    const channel = rig.emulator.addChannel('general');
    const ann = rig.emulator.addUser('Ann');
    ann.says('not for the bot', { channel });
    ann.asks('for the bot', { channel });
    await settled(rig);
    expect(rig.sink.events.map(({ text }) => text)).toEqual(['for the bot', 'settled']);
    expect(rig.sink.events[0]?.chat).toEqual({ platform: 'discord', kind: 'channel', chatId: channel.id });
  });
});
