import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Card } from '../../../../platforms/platform.ts';
import type { SlackUserHandle } from '../../../emulators/slack/user.ts';
import type { SlackChannel, SlackMessage } from '../../../emulators/slack/world.ts';
import { type Bench, never, startBench, until } from './harness.ts';

let bench: Bench;
let ann: SlackUserHandle;
let channel: SlackChannel;
let threadTs: string;

const card: Card = {
  title: 'Run?',
  tone: 'warning',
  blocks: [],
  buttons: [
    [
      { id: 'a:1:once', label: 'Once', style: 'success' },
      { id: 'a:1:deny', label: 'Deny', style: 'danger', askInput: 'Why?' },
    ],
  ],
};

async function showCard(): Promise<SlackMessage> {
  const { message } = ann.says(`<@${bench.slack.team.botUserId}> do it`, { channel });
  threadTs = message.ts;
  const { chat } = await until(() => bench.sink.events[0]);
  await bench.platform.deliver(chat, bench.platform.render({ kind: 'card', card })[0] ?? {}, {
    key: 'c',
    signal: never,
  });
  return until(() => ann.botShows(channel)[0]);
}

beforeEach(async () => {
  bench = await startBench();
  ann = bench.slack.addUser('Ann');
  channel = bench.slack.addChannel('general', 'channel', [ann]);
});
afterEach(() => bench.close());

describe('a press', () => {
  it('is reported with its button, chat and presser, then acknowledged', async () => {
    const message = await showCard();
    const receipt = ann.presses('Once', message);
    const press = await until(() => bench.sink.presses[0]);
    expect(press).toMatchObject({
      buttonId: 'a:1:once',
      messageId: message.ts,
      sender: { id: ann.id, name: 'ann' },
      chat: { kind: 'thread', chatId: channel.id, threadId: threadTs, workspaceId: bench.slack.team.id },
    });
    await until(() => receipt.ackMs !== undefined);
    expect(ann.privately()).toEqual([]);
  });

  it('that is refused is answered in private', async () => {
    const message = await showCard();
    const bob = bench.slack.addUser('Bob');
    channel.members.add(bob.id);
    bench.sink.reply = { text: 'Only <Ann> can decide this.', alert: true };
    bob.presses('Once', message);
    expect(await until(() => bob.privately()[0])).toBe('Only &lt;Ann&gt; can decide this.');
    expect(ann.privately()).toEqual([]);
  });

  it('that comes twice has one id', async () => {
    const message = await showCard();
    const receipt = ann.presses('Once', message);
    await until(() => receipt.ackMs !== undefined);
    bench.slack.redeliver(receipt);
    const [first, second] = await until(() => bench.sink.presses.length === 2 && bench.sink.presses);
    expect(second?.eventId).toBe(first?.eventId);
  });

  it('on Deny asks for a reason and is reported with it', async () => {
    const message = await showCard();
    ann.presses('Deny', message);
    await until(() => bench.slack.world.views.size === 1);
    expect(bench.sink.presses).toEqual([]);
    ann.submits('too dangerous');
    expect(await until(() => bench.sink.presses[0])).toMatchObject({
      buttonId: 'a:1:deny',
      input: 'too dangerous',
      messageId: message.ts,
      chat: { chatId: channel.id, threadId: threadTs },
    });
    expect(bench.slack.violations()).toEqual([]);
  });

  it('on Deny counts without a reason', async () => {
    const message = await showCard();
    ann.presses('Deny', message);
    await until(() => bench.slack.world.views.size === 1);
    ann.submits('');
    const press = await until(() => bench.sink.presses[0]);
    expect(press.buttonId).toBe('a:1:deny');
    expect(press.input).toBeUndefined();
  });

  it('on Deny counts at once when the form cannot open', async () => {
    const message = await showCard();
    bench.slack.fail('views.open', { error: 'expired_trigger_id' });
    ann.presses('Deny', message);
    expect(await until(() => bench.sink.presses[0])).toMatchObject({ buttonId: 'a:1:deny' });
  });

  it('is not acknowledged when it was not stored', async () => {
    const message = await showCard();
    bench.sink.press = () => Promise.reject(new Error('disk full'));
    const receipt = ann.presses('Once', message);
    await until(() => bench.logLines.some((line) => line.includes('was not stored')));
    expect(receipt.ackMs).toBeUndefined();
  });
});

describe('a slash command', () => {
  it('under /hermes is the gateway command of that name, and its answer is private', async () => {
    const receipt = ann.types('/hermes', 'status now', channel);
    const event = await until(() => bench.sink.events[0]);
    expect(event).toMatchObject({
      text: '/status now',
      addressed: true,
      chat: { kind: 'channel', chatId: channel.id },
    });
    await until(() => receipt.ackMs !== undefined);
    const answer = bench.platform.render({ kind: 'text', markdown: 'All *quiet*' })[0] ?? {};
    const how = { replyTo: event.messageId, signal: never };
    // A long answer has several parts.
    await bench.platform.deliver(event.chat, answer, { ...how, key: '1', private: true });
    await bench.platform.deliver(event.chat, answer, { ...how, key: '2', private: true });
    expect(ann.privately()).toEqual(['All _quiet_', 'All _quiet_']);
    expect(ann.botShows(channel)).toEqual([]);
    await bench.platform.deliver(event.chat, answer, { ...how, key: '3' });
    expect(ann.botShows(channel)).toHaveLength(1);
  });

  it('is answered before all when Slack takes no more private answers, so that none is lost', async () => {
    ann.types('/hermes', 'status', channel);
    const { chat, messageId } = await until(() => bench.sink.events[0]);
    const answer = bench.platform.render({ kind: 'text', markdown: 'All quiet' })[0] ?? {};
    for (let part = 0; part < 6; part += 1)
      await bench.platform.deliver(chat, answer, {
        key: `${part}`,
        replyTo: messageId,
        private: true,
        signal: never,
      });
    expect(ann.privately()).toHaveLength(5);
    expect(ann.botShows(channel)).toHaveLength(1);
  });

  it('under /hermes with other words is a message to the agent', async () => {
    ann.types('/hermes', 'tell me a joke');
    expect(await until(() => bench.sink.events[0])).toMatchObject({
      text: 'tell me a joke',
      chat: { kind: 'dm' },
    });
  });

  it('in a channel that is not allowed is ignored', async () => {
    await bench.platform.disconnect();
    const { sink } = await bench.restart({ allowedChannels: ['C0OTHER'] });
    const receipt = ann.types('/hermes', 'status', channel);
    await until(() => receipt.ackMs !== undefined);
    expect(sink.events).toEqual([]);
  });

  it('of its own is passed on as it is', async () => {
    ann.types('/approve', 'session');
    expect((await until(() => bench.sink.events[0])).text).toBe('/approve session');
  });
});

describe('an assistant thread', () => {
  it('is greeted in the language of whoever opened it', async () => {
    const vera = bench.slack.addUser('Vera', { locale: 'ru-RU' });
    const thread = vera.opensAssistant();
    const state = () => bench.slack.world.threads.get(`${vera.dm().id}:${thread}`);
    await until(() => (state()?.prompts.length ?? 0) > 0);
    expect(JSON.stringify(state()?.prompts)).toContain('Что ты умеешь?');
  });

  it('is greeted with suggested prompts and keeps its thread', async () => {
    const thread = ann.opensAssistant();
    const state = () => bench.slack.world.threads.get(`${ann.dm().id}:${thread}`);
    await until(() => (state()?.prompts.length ?? 0) > 0);
    ann.says('hi', { threadTs: thread });
    expect(await until(() => bench.sink.events[0])).toMatchObject({
      chat: { kind: 'dm', threadId: thread },
      addressed: true,
    });
    expect(bench.sink.events).toHaveLength(1);
    expect(bench.slack.violations()).toEqual([]);
  });
});
