import { describe, expect, it } from 'vitest';
import { snowflakeAt } from '../../../../platforms/discord/snowflake.ts';
import { closeRigsAfterEach, connected, opened, type Rig, until } from './rig.ts';

closeRigsAfterEach();

const texts = ({ sink }: Rig): string[] => sink.events.map(({ text }) => text);
const lastState = ({ sink }: Rig) => sink.states.at(-1);

describe('connecting to Discord', () => {
  it('is reported with the account, once events flow', async () => {
    const rig = await connected();
    expect(lastState(rig)).toMatchObject({ state: 'connected', account: expect.stringContaining('hermes') });
  });

  it('without the message intent fails before a connection is opened, and says which switch to flip', async () => {
    const rig = await opened();
    rig.emulator.world.privilegedIntents = 0;
    await expect(rig.connect()).rejects.toMatchObject({
      code: 'intent_missing',
      mend: expect.stringContaining('Message Content Intent'),
    });
    expect(lastState(rig)).toMatchObject({ state: 'fatal', code: 'intent_missing' });
    expect(rig.emulator.gateway.identifies()).toBe(0);
  });

  it('a wrong token is fatal and never shown', async () => {
    const rig = await opened({
      discord: { token: 'MTIzNDU2Nzg5MDEyMzQ1Njc4.wrong0.tokenTokenTokenTokenTokenToken' },
    });
    const failure = await rig.connect().catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'token_invalid' });
    expect(lastState(rig)).toMatchObject({ state: 'fatal', code: 'token_invalid' });
    expect(JSON.stringify([failure, rig.sink.states, rig.logs])).not.toContain('tokenToken');
  });

  it('an intent that is taken away later is fatal too (close code 4014)', async () => {
    const rig = await connected();
    rig.emulator.world.privilegedIntents = 0;
    rig.emulator.gateway.closeWith(4014);
    await until(() => lastState(rig)?.state === 'fatal');
    expect(lastState(rig)).toMatchObject({ code: 'intent_missing' });
  });

  it('a Discord that cannot be reached can be tried again', async () => {
    const rig = await opened({ discord: { apiRoot: 'http://127.0.0.1:9/api' } });
    await expect(rig.connect()).rejects.toMatchObject({ code: 'platform_unreachable', retryable: true });
  });

  it('several shards hear every server and every DM once', async () => {
    const rig = await opened({ discord: { shards: 2, autoThread: false } });
    const { emulator } = rig;
    const guilds = [emulator.guild, ...['b', 'c', 'd', 'e', 'f'].map(emulator.addGuild)];
    const channels = guilds.map((guild) => emulator.addChannel(guild.name, { guild }));
    await rig.connect();
    expect(emulator.gateway.identifies()).toBe(2);
    const ann = emulator.addUser('Ann');
    for (const channel of channels) ann.asks(channel.name, { channel });
    ann.says('direct');
    await until(() => texts(rig).length === guilds.length + 1);
    expect(texts(rig).toSorted()).toEqual(['Acme', 'b', 'c', 'd', 'direct', 'e', 'f']);
  });

  it('commands are written once and left alone while they are the same', async () => {
    const rig = await connected();
    expect(rig.emulator.world.commands.map(({ name }) => name)).toEqual(['status', 'stop']);
    await rig.restart();
    expect(rig.emulator.world.commandWrites).toBe(1);
  });
});

it('disconnecting is reported last', async () => {
  const rig = await connected();
  await rig.platform.disconnect();
  expect(lastState(rig)).toEqual({ state: 'disconnected' });
  expect(rig.sink.states.map(({ state }) => state)).not.toContain('retrying');
});

describe('a broken connection', () => {
  it('is resumed, and what was said meanwhile arrives once and in order', async () => {
    const rig = await connected();
    const ann = rig.emulator.addUser('Ann');
    ann.says('one');
    await until(() => texts(rig).length === 1);
    rig.emulator.dropSocket();
    ann.says('two');
    ann.says('three');
    await until(() => texts(rig).length === 3, 9000);
    expect(texts(rig)).toEqual(['one', 'two', 'three']);
    expect(rig.emulator.gateway.resumes()).toBe(1);
    expect(rig.emulator.gateway.identifies()).toBe(1);
  });

  it('goes on after Discord asks to reconnect (op 7)', async () => {
    const rig = await connected();
    rig.emulator.gateway.askToReconnect();
    await until(() => rig.emulator.gateway.resumes() === 1, 9000);
    rig.emulator.addUser('Ann').says('hello');
    await until(() => texts(rig)[0] === 'hello');
  });

  it('with the session gone (op 9) asks for what was missed', async () => {
    const rig = await connected();
    const ann = rig.emulator.addUser('Ann');
    ann.says('before');
    await until(() => texts(rig).length === 1);
    ann.says('lost by Discord', { unheard: true });
    rig.emulator.gateway.invalidate(false);
    await until(() => texts(rig).includes('lost by Discord'), 9000);
    expect(rig.emulator.gateway.identifies()).toBe(2);
  }, 15_000);

  it('is tried again for as long as Discord is away', async () => {
    const rig = await connected();
    const ann = rig.emulator.addUser('Ann');
    ann.says('before');
    await until(() => texts(rig).length === 1);
    rig.emulator.gateway.refuseConnections(true);
    rig.emulator.dropSocket();
    await until(() => lastState(rig)?.state === 'retrying', 9000);
    await until(() => rig.emulator.gateway.refused() >= 2, 9000);
    // discord.js gives the session up when it cannot resume at once, so this is caught up, not replayed.
    ann.says('hello');
    rig.emulator.gateway.refuseConnections(false);
    await until(() => texts(rig).includes('hello'), 12_000);
    await until(() => lastState(rig)?.state === 'connected');
  }, 25_000);

  it('of code 4000 is mended', async () => {
    const rig = await connected();
    rig.emulator.gateway.closeWith(4000);
    await until(() => lastState(rig)?.state === 'retrying', 9000);
    await until(() => lastState(rig)?.state === 'connected', 9000);
  });
});

describe('after a restart', () => {
  it('messages of the meantime arrive in order before new ones, from DMs and from channels never seen', async () => {
    const rig = await connected({ discord: { autoThread: false } });
    const channel = rig.emulator.addChannel('general');
    const ann = rig.emulator.addUser('Ann');
    ann.says('before');
    await until(() => texts(rig).length === 1);
    await rig.platform.disconnect();
    ann.says('one');
    ann.says('two');
    ann.asks('in the channel', { channel });
    await rig.restart();
    ann.says('three');
    await until(() => texts(rig).length >= 5);
    const direct = rig.sink.events.filter(({ chat }) => chat.kind === 'dm').map(({ text }) => text);
    expect(direct.slice(0, 4)).toEqual(['before', 'one', 'two', 'three']);
    const missed = rig.sink.events.find(({ text }) => text === 'in the channel');
    expect(missed).toMatchObject({ chat: { kind: 'channel', chatId: channel.id }, sender: { roles: [] } });
  });

  it('nothing older than a day is dug out', async () => {
    const rig = await connected();
    const ann = rig.emulator.addUser('Ann');
    ann.says('before');
    await until(() => texts(rig).length === 1);
    await rig.platform.disconnect();
    const threeDaysAgo = snowflakeAt(Date.now() - 3 * 24 * 3_600_000);
    await rig.memory.set(`seen:dm:${ann.dm().id}`, threeDaysAgo);
    await rig.memory.set('alive', threeDaysAgo);
    ann.says('yesterday', { agoMs: 25 * 3_600_000 });
    ann.says('today');
    await rig.restart();
    await until(() => texts(rig).includes('today'));
    expect(texts(rig)).not.toContain('yesterday');
  });

  it('chatter that is not for the bot leaves no marks', async () => {
    const rig = await connected();
    const channel = rig.emulator.addChannel('general');
    rig.emulator.addUser('Ann').says('chatter', { channel });
    rig.emulator.addUser('Bob').asks('over', { channel });
    await until(() => texts(rig).includes('over'));
    rig.emulator.addUser('Cid').says('more chatter', { channel });
    await rig.platform.disconnect();
    const marks = await rig.memory.list('seen:');
    expect(marks.map(({ value }) => value)).toEqual([rig.sink.events[0]?.messageId]);
  });

  it('the first start of all reads nothing back', async () => {
    const rig = await opened();
    const channel = rig.emulator.addChannel('general');
    rig.emulator.addUser('Ann').asks('long ago', { channel });
    await rig.connect();
    rig.emulator.addUser('Bob').asks('now', { channel });
    await until(() => texts(rig).includes('now'));
    expect(texts(rig)).toEqual(['now']);
  });
});

describe('signs of life', () => {
  it('an acknowledged heartbeat is one', async () => {
    const rig = await connected({ emulator: { heartbeatMs: 200 } });
    await until(() => rig.sink.lives > 0, 9000);
  }, 15_000);
});
