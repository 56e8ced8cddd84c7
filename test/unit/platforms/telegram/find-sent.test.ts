import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { ChatAddress, OlderMessage, OutboundContent, Payload } from '../../../../platforms/platform.ts';
import { addressFor } from '../../../emulators/telegram/rig.ts';
import type { UserHandle } from '../../../emulators/telegram/user.ts';
import { type ConnectedRig, connectedRig, deliverOptions } from './connected-rig.ts';

function payloadOf({ platform }: ConnectedRig, content: OutboundContent): Payload {
  const [payload] = platform.render(content);
  if (payload === undefined) throw new Error('nothing to send');
  return payload;
}
const answer = (markdown: string): OutboundContent => ({ kind: 'text', markdown });
async function deliver(rig: ConnectedRig, content: OutboundContent, chat = rig.dm): Promise<string> {
  return (await rig.platform.deliver(chat, payloadOf(rig, content), deliverOptions())).messageId;
}
const find = (
  rig: ConnectedRig,
  content: OutboundContent,
  older: readonly OlderMessage[],
  chat: ChatAddress = rig.dm,
) => rig.platform.findDelivered(chat, payloadOf(rig, content), 'key', AbortSignal.timeout(5_000), older);
/** What a person says, as the gateway knows it. */
function says(user: UserHandle, text: string): OlderMessage {
  const { message } = user.says(text);
  return { chat: addressFor(user.chat), messageId: String(message.id) };
}
const edits = ({ emulator }: ConnectedRig) =>
  emulator.calls.filter(({ method }) => method.startsWith('edit'));
const untold = { code: 'send_unknown' };
const card = (id: string): OutboundContent => ({
  kind: 'card',
  card: {
    title: 'Run this command?',
    tone: 'warning',
    blocks: [{ kind: 'code', text: 'rm -rf build' }],
    buttons: [[{ id, label: 'Once', style: 'success' }]],
  },
});

describe('a send that was never confirmed', () => {
  test('is found behind what others wrote meanwhile, and nothing is changed', async () => {
    const rig = await connectedRig();
    const bob = rig.emulator.addUser('Bob');
    const before = says(rig.ann, 'hi');
    says(bob, 'me too');
    await deliver(rig, answer('to Bob'), addressFor(bob.chat));
    says(rig.ann, 'are you there?');
    const id = await deliver(rig, answer('**here**'));
    expect(await find(rig, answer('**here**'), [before])).toBe(id);
    const all = [...rig.emulator.world.messages.values()].flat();
    expect(all.map(({ edits: times }) => times)).toEqual(all.map(() => 0));
    expect(rig.emulator.violations).toEqual([]);
  });

  test('is looked for after the newest message known, whatever the chat: one counter serves them all', async () => {
    const rig = await connectedRig();
    const bob = rig.emulator.addUser('Bob');
    const asked = says(rig.ann, 'hi');
    for (let count = 0; count < 30; count += 1) says(bob, `line ${count}`);
    const newest = says(bob, 'the last');
    const id = await deliver(rig, answer('here'));
    expect(await find(rig, answer('here'), [asked, newest])).toBe(id);
    expect(edits(rig)).toHaveLength(1);
  });

  test('is looked for by the counter of its own supergroup', async () => {
    const rig = await connectedRig();
    const group = rig.emulator.addGroup('Builders');
    const chat = addressFor(group);
    const { message } = rig.ann.says('hi all', { in: group });
    const inGroup = { chat, messageId: String(message.id) };
    for (let count = 0; count < 40; count += 1) says(rig.ann, `elsewhere ${count}`);
    const elsewhere = says(rig.ann, 'the last');
    const id = await deliver(rig, answer('to the group'), chat);
    await expect(find(rig, answer('to the group'), [elsewhere], chat)).rejects.toMatchObject(untold);
    expect(await find(rig, answer('to the group'), [elsewhere, inGroup], chat)).toBe(id);
  });

  test('is found when it is a card, by its buttons too', async () => {
    const rig = await connectedRig();
    const before = says(rig.ann, 'hi');
    const id = await deliver(rig, card('ap:1:once'));
    expect(await find(rig, card('ap:1:once'), [before])).toBe(id);
    expect(rig.emulator.shown(rig.ann.chat)).toMatchObject([{ edits: 0 }]);
  });

  test('is found when it went out in a plainer form', async () => {
    const rig = await connectedRig();
    const refusal = { status: 400, description: "Bad Request: can't parse rich message", times: 2 };
    rig.emulator.fail('sendRichMessage', refusal);
    const before = says(rig.ann, 'hi');
    const id = await deliver(rig, answer('**bold**'));
    // A text that is refused as rich is refused so again.
    rig.emulator.fail('editMessageText', { ...refusal, times: 1 });
    expect(await find(rig, answer('**bold**'), [before])).toBe(id);
    expect(rig.emulator.shown(rig.ann.chat)).toMatchObject([{ edits: 0 }]);
  });

  test.each(['A report', undefined])('is found when it is a file with the caption %s', async (caption) => {
    const rig = await connectedRig();
    const folder = await mkdtemp(join(tmpdir(), 'hermes-find-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const path = join(folder, 'out.txt');
    await writeFile(path, 'contents');
    const file: OutboundContent = {
      kind: 'file',
      path,
      name: 'out.txt',
      as: 'document',
      ...(caption !== undefined && { caption }),
    };
    const before = says(rig.ann, 'hi');
    await deliver(rig, answer('here is the report'));
    const id = await deliver(rig, file);
    expect(await find(rig, file, [before])).toBe(id);
    expect(rig.emulator.shown(rig.ann.chat)).toMatchObject([{ edits: 0 }, { edits: 0 }]);
  });

  test('is given up after a few ids, and at once when nothing is known from before it', async () => {
    const rig = await connectedRig();
    await expect(find(rig, answer('never sent'), [])).rejects.toMatchObject(untold);
    expect(edits(rig)).toEqual([]);
    const before = says(rig.ann, 'hi');
    expect(await find(rig, answer('never sent'), [before])).toBeNull();
    expect(edits(rig)).toHaveLength(16);
  });

  test('stays in doubt while Telegram asks to wait', async () => {
    const rig = await connectedRig();
    const before = says(rig.ann, 'hi');
    rig.emulator.fail('editMessageText', { status: 429, retryAfter: 3 });
    await expect(find(rig, answer('sent?'), [before])).rejects.toMatchObject({
      code: 'platform_rate_limited',
      retryAfterMs: 3_000,
    });
  });
});
