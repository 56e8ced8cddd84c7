import { z } from 'zod';
import type { ChatAddress } from '../../../platforms/platform.ts';
import { createSlack } from '../../../platforms/slack/slack.ts';
import { systemClock } from '../../../src/clock.ts';
import { createLog } from '../../../src/log.ts';
import type { PlatformRig, ShownMessage } from '../../contracts/platform-contract.ts';
import { createPlatformMemory } from '../../support/platform-memory.ts';
import { joinEffects } from '../effects.ts';
import { effectsOfCall, effectsOfMessage } from './effects.ts';
import type { Fault } from './faults.ts';
import { startSlackEmulator } from './slack-emulator.ts';
import { addMessage, type SlackMessage } from './world.ts';

/** The adapter beside the emulator, with Ann in a direct message and in a channel. */
export async function slackRig(): Promise<PlatformRig> {
  const slack = await startSlackEmulator();
  const lines: string[] = [];
  const log = createLog('trace', (line) => lines.push(line));
  const platform = await createSlack(
    { botTokens: [slack.team.botToken], appToken: slack.appToken, apiRoot: slack.apiRoot },
    { log, clock: systemClock, memory: createPlatformMemory() },
  );
  const ann = slack.addUser('Ann');
  const channel = slack.addChannel('builders', 'channel', [ann]);
  const root = addMessage(slack.world, { channel: channel.id, user: ann.id, text: 'Shall we?' });
  const place = { platform: 'slack', workspaceId: slack.team.id };
  const chat: ChatAddress = { ...place, kind: 'dm', chatId: ann.dm().id };
  const channelOf = ({ chatId }: ChatAddress) => slack.world.channels.get(chatId) ?? ann.dm();
  const failSending = (fault: Fault) => {
    for (const method of ['chat.postMessage', 'files.completeUploadExternal']) slack.fail(method, fault);
  };

  return {
    platform,
    chat,
    thread: { ...place, kind: 'thread', chatId: channel.id, threadId: root.ts },
    secrets: [slack.team.botToken, slack.appToken],
    logged: () => lines.join(''),
    says: (text) => void ann.says(text),
    uploads: (name, bytes) => void ann.uploads(name, bytes, 'text/plain'),
    async presses(label) {
      const message = ann.botShows().at(-1);
      if (message === undefined) throw new Error('the bot shows nothing to press');
      const receipt = ann.presses(label, message);
      await receipt.acked;
      return ann.privately().at(-1) ?? '';
    },
    told: ann.privately,
    redeliver() {
      for (const receipt of slack.receipts) slack.redeliver(receipt);
    },
    shown: (address) =>
      ann
        .botShows(channelOf(address))
        .filter(({ threadTs }) => address.threadId === undefined || threadTs === address.threadId)
        .map(shownOf),
    faults: {
      rateLimit: (retryAfter) => failSending({ status: 429, retryAfter }),
      rateLimitEdit: (retryAfter) => slack.fail('chat.update', { status: 429, retryAfter }),
      refuseMarkup: () => slack.fail('chat.postMessage', { error: 'invalid_blocks' }),
      chatGone: () => failSending({ error: 'channel_not_found' }),
      dropAfterSend: () => failSending({ hangUp: 'after' }),
      serverError: () => failSending({ status: 502 }),
    },
    requests: () =>
      slack.calls.filter(({ method }) => /^(?:chat|files|assistant|reactions)\./.test(method)).length,
    effects: () =>
      joinEffects([
        ...slack.calls.map(effectsOfCall),
        ...slack.world.ephemerals.map(({ text, blocks }) => effectsOfMessage(text, blocks)),
      ]),
    violations: slack.violations,
    close: slack.close,
  };
}

const textual = z.object({ type: z.string(), text: z.string() });

/** A message as a person sees it: the text of its blocks, else its own. */
export function shownOf(message: SlackMessage): ShownMessage {
  const buttons: string[] = [];
  const texts: string[] = [];
  const walk = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    const fields = Object.fromEntries(Object.entries(value));
    if (fields['type'] === 'button') {
      buttons.push(z.object({ text: z.object({ text: z.string() }) }).parse(value).text.text);
      return;
    }
    const text = textual.safeParse(value);
    if (text.success) texts.push(text.data.type === 'text' ? text.data.text : plainOf(text.data.text));
    else Object.values(fields).map(walk);
  };
  walk(message.blocks);
  const [file] = message.files;
  return {
    text: texts.length === 0 ? plainOf(message.text) : texts.join(''),
    buttons,
    ...(message.threadTs === undefined ? {} : { threadId: message.threadTs }),
    ...(file === undefined ? {} : { file: { name: file.title, bytes: file.bytes } }),
  };
}

function plainOf(text: string): string {
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}
