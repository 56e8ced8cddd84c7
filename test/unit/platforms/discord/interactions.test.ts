import { describe, expect, it } from 'vitest';
import type { Card, CardButton, ChatAddress } from '../../../../platforms/platform.ts';
import { closeRigsAfterEach, connected, dmChat, type Rig, sendOptions, until } from './rig.ts';

closeRigsAfterEach();

const approve: CardButton = { id: 'ap:1:once', label: '✅ Once', style: 'success' };
const deny: CardButton = { id: 'ap:1:deny', label: '⛔ Deny', style: 'danger', askInput: 'Why? (optional)' };
const card: Card = {
  title: 'Run this?',
  tone: 'warning',
  blocks: [{ kind: 'code', text: 'rm -rf build' }],
  buttons: [[approve, deny]],
};

async function showCard(rig: Rig, chat: ChatAddress, shown: Card = card) {
  const [payload = {}] = rig.platform.render({ kind: 'card', card: shown });
  const { messageId } = await rig.platform.deliver(chat, payload, sendOptions());
  const message = rig.emulator.world.messages.find(({ id }) => id === messageId);
  if (message === undefined) throw new Error('the card is not there');
  return message;
}

describe('a press', () => {
  it('reaches the gateway with the presser, the card and the button, and is answered', async () => {
    const rig = await connected();
    const ann = rig.emulator.addUser('Ann', { locale: 'ru' });
    const message = await showCard(rig, dmChat(ann.dm().id));
    const interaction = ann.presses('Once', message);
    await until(() => interaction.answer);
    expect(rig.sink.presses).toEqual([
      {
        eventId: `i${interaction.id}`,
        chat: dmChat(ann.dm().id),
        sender: { id: ann.id, name: 'Ann', isBot: false, locale: 'ru' },
        messageId: message.id,
        buttonId: 'ap:1:once',
      },
    ]);
    expect(interaction.answer?.type).toBe(6);
  });

  it('that is refused tells only the presser', async () => {
    const rig = await connected();
    const channel = rig.emulator.addChannel('general');
    const bob = rig.emulator.addUser('Bob');
    rig.sink.onPress = async () => ({ text: 'Only Ann can decide this.', alert: true });
    const message = await showCard(rig, { platform: 'discord', kind: 'channel', chatId: channel.id });
    bob.presses('Once', message);
    await until(() => bob.privately()[0]);
    expect(bob.privately()).toEqual(['Only Ann can decide this.']);
    expect(message.components).toHaveLength(1);
  });

  it('that is refused hides no address behind the name of a person', async () => {
    const rig = await connected();
    const ann = rig.emulator.addUser('Ann');
    const message = await showCard(rig, dmChat(ann.dm().id));
    rig.sink.onPress = async () => ({ text: 'Only [Bob](https://evil.example) can decide.', alert: true });
    ann.presses('Once', message);
    await until(() => ann.privately().length > 0);
    expect(ann.privately()).toEqual(['Only \\[Bob\\](https://evil.example) can decide.']);
  });

  it('on a button that asks for a reason opens a form, and its text comes along', async () => {
    const rig = await connected();
    const ann = rig.emulator.addUser('Ann');
    const message = await showCard(rig, dmChat(ann.dm().id));
    const opened = ann.presses('Deny', message);
    await until(() => opened.answer?.type === 9);
    expect(rig.sink.presses).toEqual([]);
    ann.submits('too risky');
    expect(await until(() => rig.sink.presses[0])).toMatchObject({
      buttonId: 'ap:1:deny',
      input: 'too risky',
      messageId: message.id,
    });
  });

  it('a form that is left empty gives no reason', async () => {
    const rig = await connected();
    const ann = rig.emulator.addUser('Ann');
    const opened = ann.presses('Deny', await showCard(rig, dmChat(ann.dm().id)));
    await until(() => opened.answer);
    ann.submits('');
    expect(await until(() => rig.sink.presses[0])).not.toHaveProperty('input');
  });

  it('in a thread is of that thread', async () => {
    const rig = await connected();
    const channel = rig.emulator.addChannel('general');
    const ann = rig.emulator.addUser('Ann');
    const thread = ann.startsThread(channel, 'work');
    const chat = { platform: 'discord', kind: 'thread', chatId: channel.id, threadId: thread.id } as const;
    ann.presses('Once', await showCard(rig, chat));
    expect((await until(() => rig.sink.presses[0])).chat).toEqual(chat);
  });

  it('on a card of a conversation that got no thread is still of that conversation', async () => {
    const rig = await connected();
    rig.emulator.deny('CREATE_PUBLIC_THREADS');
    const ann = rig.emulator.addUser('Ann');
    ann.asks('delete it', { channel: rig.emulator.addChannel('general') });
    const { chat } = await until(() => rig.sink.events[0]);
    ann.presses('Once', await showCard(rig, chat));
    expect((await until(() => rig.sink.presses[0])).chat).toEqual(chat);
  });

  it('whose storing takes long is answered in time, and the refusal follows', async () => {
    const rig = await connected();
    const ann = rig.emulator.addUser('Ann');
    const { promise, resolve } = Promise.withResolvers<{ text: string; alert: boolean }>();
    rig.sink.onPress = () => promise;
    const interaction = ann.presses('Once', await showCard(rig, dmChat(ann.dm().id)));
    await until(() => interaction.answer);
    expect(interaction.answeredAfterMs).toBeLessThan(3000);
    resolve({ text: 'Too late.', alert: true });
    await until(() => ann.privately().includes('Too late.'));
  });

  it('is followed by its outcome with the bot’s own token: that of a press is dead after a quarter of an hour', async () => {
    const rig = await connected();
    const ann = rig.emulator.addUser('Ann');
    const chat = dmChat(ann.dm().id);
    const message = await showCard(rig, chat);
    const pressed = ann.presses('Once', message);
    await until(() => pressed.answer);
    rig.emulator.fail('POST /webhooks/{webhook_id}/{webhook_token}', { status: 401, code: 50_027 });
    const outcome = { ...card, title: 'Approved', buttons: [] };
    const [payload = {}] = rig.platform.render({ kind: 'card', card: outcome });
    await rig.platform.edit(chat, message.id, payload, AbortSignal.timeout(5000));
    expect(message).toMatchObject({ components: [], embeds: [{ title: 'Approved' }] });
    expect(rig.emulator.received.filter((call) => call.includes('/webhooks/'))).toEqual([]);
  });

  it('that could not be stored asks the person to try again, in their language', async () => {
    const rig = await connected();
    const ann = rig.emulator.addUser('Аня', { locale: 'ru' });
    rig.sink.onPress = () => Promise.reject(new Error('the disk is full'));
    ann.presses('Once', await showCard(rig, dmChat(ann.dm().id)));
    expect(await until(() => ann.privately()[0])).toContain('Попробуйте ещё раз');
  });

  it('on an option of a long list is that option’s button', async () => {
    const rig = await connected();
    const ann = rig.emulator.addUser('Ann');
    const buttons = Array.from({ length: 30 }, (_, at): CardButton[] => [
      { id: `cl:1:${at}`, label: `choice ${at}.`, style: 'neutral' },
    ]);
    ann.presses('choice 27.', await showCard(rig, dmChat(ann.dm().id), { ...card, buttons }));
    expect((await until(() => rig.sink.presses[0])).buttonId).toBe('cl:1:27');
  });
});

describe('a slash command', () => {
  it('arrives as text, is acknowledged privately, and passes a chat whose messages wait', async () => {
    const rig = await connected();
    const ann = rig.emulator.addUser('Ann');
    const stuck = Promise.withResolvers<void>();
    rig.sink.onReceive = ({ text }) => (text === 'busy' ? stuck.promise : Promise.resolve());
    ann.says('busy');
    ann.types('stop', 'at once');
    expect(await until(() => rig.sink.events[0])).toMatchObject({
      text: '/stop at once',
      addressed: true,
      chat: { kind: 'dm' },
    });
    await until(() => ann.privately()[0]);
    stuck.resolve();
  });

  it('is answered for the one who gave it alone, after the acknowledgement, in every part of the answer', async () => {
    const rig = await connected();
    const channel = rig.emulator.addChannel('general');
    const ann = rig.emulator.addUser('Ann');
    const answer = rig.platform.render({ kind: 'text', markdown: 'All **quiet** @everyone' })[0] ?? {};
    const sent: Promise<{ messageId: string }>[] = [];
    // The gateway answers before the adapter has acknowledged the command.
    rig.sink.onReceive = async ({ chat, messageId }) => {
      const how = { replyTo: messageId, private: true };
      for (const part of ['1', '2'])
        sent.push(rig.platform.deliver(chat, answer, { ...sendOptions(part), ...how }));
    };
    ann.types('status', '', channel);
    await until(() => ann.privately().length === 3);
    expect(ann.privately()).toEqual(['✅ /status', 'All **quiet** @everyone', 'All **quiet** @everyone']);
    expect(ann.botShows(channel)).toEqual([]);
    for (const { messageId } of await Promise.all(sent)) {
      expect(messageId).toMatch(/^private:/);
      await expect(
        rig.platform.edit(dmChat(channel.id), messageId, answer, AbortSignal.timeout(5000)),
      ).rejects.toMatchObject({ code: 'platform_refused' });
    }
  });

  it('is answered privately after a restart too, and before all once Discord takes no private answer', async () => {
    const rig = await connected();
    const channel = rig.emulator.addChannel('general');
    const ann = rig.emulator.addUser('Ann');
    ann.types('status', '', channel);
    const { chat, messageId } = await until(() => rig.sink.events[0]);
    await until(() => ann.privately().length === 1);
    await rig.restart();
    const answer = rig.platform.render({ kind: 'text', markdown: 'All quiet' })[0] ?? {};
    const how = { replyTo: messageId, private: true };
    await rig.platform.deliver(chat, answer, { ...sendOptions(), ...how });
    expect(ann.privately()).toEqual(['✅ /status', 'All quiet']);
    rig.emulator.fail('POST /webhooks/{webhook_id}/{webhook_token}', { status: 401, code: 50_027 });
    await rig.platform.deliver(chat, answer, { ...sendOptions(), ...how });
    expect(ann.botShows(channel).map(({ content }) => content)).toEqual(['All quiet']);
  });

  it('in a direct message is answered as usual', async () => {
    const rig = await connected();
    const ann = rig.emulator.addUser('Ann');
    ann.types('status');
    const { chat, messageId } = await until(() => rig.sink.events[0]);
    const answer = rig.platform.render({ kind: 'text', markdown: 'All quiet' })[0] ?? {};
    await rig.platform.deliver(chat, answer, { ...sendOptions(), replyTo: messageId, private: true });
    expect(ann.botShows().map(({ content }) => content)).toEqual(['All quiet']);
  });

  it('that could not be stored is not acknowledged as done', async () => {
    const rig = await connected();
    const ann = rig.emulator.addUser('Ann');
    rig.sink.onReceive = () => Promise.reject(new Error('the disk is full'));
    ann.types('stop');
    expect(await until(() => ann.privately()[0])).toContain('try again');
  });

  it('in a channel that is closed to the bot says so', async () => {
    const rig = await connected({
      discord: (emulator) => ({ ignoredChannels: [emulator.addChannel('hush').id] }),
    });
    const ann = rig.emulator.addUser('Ann');
    const hush = [...rig.emulator.world.channels.values()].find(({ name }) => name === 'hush');
    ann.types('status', '', hush);
    expect(await until(() => ann.privately()[0])).toBe('I am not available in this channel.');
    expect(rig.sink.events).toEqual([]);
  });
});

describe('under a hundred busy chats', () => {
  it('a press is answered within 300 ms at p99', async () => {
    const rig = await connected();
    const people = Array.from({ length: 100 }, (_, at) => rig.emulator.addUser(`User${at}`));
    const channel = rig.emulator.addChannel('general');
    const message = await showCard(rig, { platform: 'discord', kind: 'channel', chatId: channel.id });
    // The emulator shares this process, so presses come ten at a time among the messages: its work is not measured.
    for (let at = 0; at < people.length; at += 10) {
      for (const person of people) person.says(`message ${at}`);
      for (const person of people.slice(at, at + 10)) person.presses('Once', message);
      await until(() => rig.emulator.interactions.every(({ answer }) => answer !== undefined));
    }
    expect(rig.sink.events.length).toBeGreaterThan(800);
    const took = rig.emulator.interactions.map(({ answeredAfterMs = Number.NaN }) => answeredAfterMs);
    const p99 = took.toSorted((a, b) => a - b)[Math.floor(took.length * 0.99)];
    expect(p99).toBeLessThan(300);
  });
});
