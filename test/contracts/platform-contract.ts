import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type {
  Card,
  ChatAddress,
  DeliverOptions,
  OutboundContent,
  Payload,
  Platform,
} from '../../platforms/platform.ts';
import { GatewayError } from '../../src/errors.ts';
import type { Effects } from '../emulators/effects.ts';
import { createRecordingSink, type RecordingSink } from './recording-sink.ts';

/** One message of the bot, as a person sees it now. */
export interface ShownMessage {
  text: string;
  buttons: readonly string[];
  threadId?: string;
  file?: { name: string; bytes: Buffer };
}

/** An adapter with its emulator, and a person who talks to the bot in `chat`. */
export interface PlatformRig {
  platform: Platform;
  chat: ChatAddress;
  /** A topic or thread of a shared chat that is still empty, where the platform has such. */
  thread: ChatAddress | null;
  /** What must never be printed. */
  secrets: readonly string[];
  /** What the adapter logged so far. */
  logged(): string;
  says(text: string): void | Promise<void>;
  uploads(name: string, bytes: Buffer): void | Promise<void>;
  /** Resolves with what the presser is told, or '' where the platform shows nothing. */
  presses(label: string): Promise<string>;
  /** What only the presser was shown so far: toasts, alerts, ephemeral messages. */
  told(): readonly string[];
  /** Sends the last events again, as after a lost acknowledgement. */
  redeliver(): void | Promise<void>;
  /** Calls so far that show or change something, refused ones too. */
  requests(): number;
  /** What all that the bot ever sent would do to its readers: previews, edits, captions and private words too. */
  effects(): Effects;
  /** The bot's messages of a chat, oldest first. */
  shown(chat: ChatAddress): ShownMessage[];
  faults: {
    rateLimit(seconds: number): void;
    /** The same for the next edit. */
    rateLimitEdit(seconds: number): void;
    /** The markup of the next message is refused in every form that can be. */
    refuseMarkup(): void;
    chatGone(): void;
    /** The connection of the next send breaks after it took effect. */
    dropAfterSend(): void;
    serverError(): void;
  };
  /** Rules of the API that calls broke. */
  violations(): readonly string[];
  close(): Promise<void>;
}

const card: Card = {
  title: 'Run this command?',
  tone: 'warning',
  blocks: [
    { kind: 'code', text: 'rm -rf <build> && echo "done"', marks: [{ start: 0, end: 6 }] },
    { kind: 'text', text: 'It deletes 12 files & <b>more</b>.' },
    { kind: 'facts', facts: [{ label: 'Where', text: 'local' }] },
  ],
  buttons: [
    [
      { id: 'a:1:once', label: 'Once', style: 'success' },
      { id: 'a:1:deny', label: 'Deny', style: 'danger' },
    ],
  ],
  footer: 'Asked by Ann',
};
const outcome: Card = { ...card, title: 'Approved once by Ann', tone: 'success', blocks: [], buttons: [] };

let keys = 0;
function options(more: Partial<DeliverOptions> = {}): DeliverOptions {
  return { key: `key${++keys}`, signal: AbortSignal.timeout(10_000), ...more };
}

/** What the gateway relies on, held by every adapter that a person can talk to. */
export function platformContract(name: string, start: () => Promise<PlatformRig>): void {
  describe(`the platform ${name}`, () => {
    let rig: PlatformRig;
    let sink: RecordingSink;
    let folder: string;

    beforeEach(async () => {
      folder = await mkdtemp(join(tmpdir(), 'platform-contract-'));
      rig = await start();
      sink = createRecordingSink();
      await rig.platform.connect(
        sink,
        [{ name: 'help', description: 'What I can do' }],
        AbortSignal.timeout(10_000),
      );
    });

    afterEach(async () => {
      await rig.platform.disconnect();
      await rig.close();
      await rm(folder, { recursive: true, force: true });
      expect(rig.violations()).toEqual([]);
      for (const secret of rig.secrets) expect(rig.logged()).not.toContain(secret);
    });

    function renderOne(content: OutboundContent): Payload {
      const payloads = rig.platform.render(content);
      const [first] = payloads;
      if (first === undefined || payloads.length !== 1) throw new Error(`${payloads.length} payloads`);
      // The outbox keeps payloads as JSON.
      return JSON.parse(JSON.stringify(first));
    }
    const deliver = (content: OutboundContent, chat = rig.chat, more: Partial<DeliverOptions> = {}) =>
      rig.platform.deliver(chat, renderOne(content), options(more));
    const texts = (chat = rig.chat) => rig.shown(chat).map(({ text }) => text);
    async function failure(work: Promise<unknown>): Promise<GatewayError> {
      const error: unknown = await work.then(
        () => new Error('it succeeded'),
        (reason: unknown) => reason,
      );
      if (!(error instanceof GatewayError)) throw new Error(`no GatewayError: ${String(error)}`);
      for (const secret of rig.secrets) {
        expect(`${error.message} ${error.mend} ${error.stack} ${String(error.cause)}`).not.toContain(secret);
      }
      return error;
    }

    test('says that it is connected, and as whom', async () => {
      const state = await sink.state('connected');
      expect(state).toMatchObject({ account: expect.stringMatching(/\S/) });
    });

    test('hands on a message with its sender, its place and its time', async () => {
      await rig.says('hello there');
      const event = await sink.event('hello there');
      expect(event).toMatchObject({ kind: 'message', chat: rig.chat, addressed: true, attachments: [] });
      expect(event.sender).toMatchObject({ isBot: false, name: expect.stringMatching(/\S/) });
      expect(Math.abs(Date.now() - event.sentAt)).toBeLessThan(60_000);
    });

    test('keeps the order of one chat', async () => {
      for (let index = 0; index < 10; index++) await rig.says(`line ${index}`);
      await sink.event('line 9');
      expect(sink.events.map(({ text }) => text)).toEqual(
        Array.from({ length: 10 }, (_, index) => `line ${index}`),
      );
    });

    test('lets an event that could not be stored come again', async () => {
      sink.refuse(1);
      await rig.says('not lost');
      await sink.event('not lost');
    });

    test('gives a repeated event the same id', async () => {
      await rig.says('once');
      const first = await sink.event('once');
      await rig.redeliver();
      // An adapter may drop the repetition itself; another message shows that it has been through.
      await rig.says('after');
      await sink.event('after');
      for (const event of sink.events.filter(({ text }) => text === 'once'))
        expect(event.eventId).toBe(first.eventId);
    });

    test('delivers a text and returns the id by which it can be edited and removed', async () => {
      const { messageId } = await deliver({ kind: 'text', markdown: 'first version' });
      await rig.platform.edit(
        rig.chat,
        messageId,
        renderOne({ kind: 'text', markdown: 'second version' }),
        options().signal,
      );
      expect(texts()).toEqual([expect.stringContaining('second version')]);
      await rig.platform.remove(rig.chat, messageId, options().signal);
      expect(texts()).toEqual([]);
    });

    test('takes an edit that changes nothing for a success', async () => {
      const payload = renderOne({ kind: 'text', markdown: 'the same' });
      const { messageId } = await rig.platform.deliver(rig.chat, payload, options());
      await rig.platform.edit(rig.chat, messageId, payload, options().signal);
      expect(texts()).toHaveLength(1);
    });

    test('sends a long answer in parts that the platform takes, nothing lost', async () => {
      const words = Array.from({ length: 3_000 }, (_, index) => `w${index}`);
      for (const payload of rig.platform.render({ kind: 'text', markdown: words.join(' ') })) {
        await rig.platform.deliver(rig.chat, payload, options());
      }
      expect(texts().join(' ').match(/w\d+/g)).toEqual(words);
    });

    test('delivers broken and hostile markup all the same', async () => {
      for (const markdown of [
        '**a_b [x](y',
        '<div> & </b>',
        '```\nopen',
        `${'a'.repeat(1_990)}😀`,
        '# \u202eRTL שלום',
        '| a |\n|---|\n| b |',
      ]) {
        for (const payload of rig.platform.render({ kind: 'text', markdown }))
          await rig.platform.deliver(rig.chat, payload, options());
      }
      expect(texts().length).toBeGreaterThanOrEqual(6);
    });

    test('shows progress in one message', async () => {
      const { messageId } = await deliver({ kind: 'progress', lines: ['💻 terminal: "npm test"'] });
      const more = renderOne({
        kind: 'progress',
        lines: Array.from({ length: 300 }, (_, index) => `line ${index} <b>`),
      });
      await rig.platform.edit(rig.chat, messageId, more, options().signal);
      expect(texts()).toEqual([expect.stringContaining('line 299')]);
    });

    test('shows a card with its buttons, reports a press, and takes the buttons away', async () => {
      const { messageId } = await deliver({ kind: 'card', card });
      const [shown] = rig.shown(rig.chat);
      expect(shown?.text).toContain('rm -rf <build> && echo "done"');
      expect(shown?.buttons).toEqual(['Once', 'Deny']);
      sink.reply = { text: 'Approved', alert: false };
      const told = await rig.presses('Once');
      expect(['Approved', '']).toContain(told);
      expect(sink.presses).toMatchObject([{ buttonId: 'a:1:once', messageId, chat: rig.chat }]);
      await rig.platform.edit(
        rig.chat,
        messageId,
        renderOne({ kind: 'card', card: outcome }),
        options().signal,
      );
      expect(rig.shown(rig.chat)).toMatchObject([
        { text: expect.stringContaining('Approved once by Ann'), buttons: [] },
      ]);
    });

    test('refuses to render a card that does not fit, and cuts nothing', () => {
      const blocks = [{ kind: 'code' as const, text: 'x'.repeat(60_000) }];
      expect(() => rig.platform.render({ kind: 'card', card: { ...card, blocks } })).toThrow(GatewayError);
    });

    test('sends a file', async () => {
      const path = join(folder, 'out.txt');
      await writeFile(path, 'the contents');
      await deliver({ kind: 'file', path, name: 'report.txt', as: 'document', caption: 'A report' });
      expect(rig.shown(rig.chat)).toMatchObject([
        { file: { name: 'report.txt', bytes: Buffer.from('the contents') } },
      ]);
    });

    test('fetches a file that a person sent, for its owner alone', async () => {
      await rig.uploads('notes.txt', Buffer.from('some notes'));
      const event = await sink.until('a file', () =>
        sink.events.find(({ attachments }) => attachments.length > 0),
      );
      const [attachment] = event.attachments;
      if (attachment === undefined) throw new Error('no attachment');
      const path = join(folder, 'in.txt');
      await rig.platform.download(attachment, path, options().signal);
      expect(await readFile(path, 'utf8')).toBe('some notes');
      expect((await stat(path)).mode & 0o777).toBe(0o600);
    });

    test('says how long to wait when the platform asks for patience', async () => {
      rig.faults.rateLimit(7);
      const error = await failure(deliver({ kind: 'text', markdown: 'x' }));
      expect(error).toMatchObject({ code: 'platform_rate_limited', retryAfterMs: 7_000 });
    });

    test('tells a chat that is gone from trouble that passes', async () => {
      rig.faults.chatGone();
      expect(await failure(deliver({ kind: 'text', markdown: 'x' }))).toMatchObject({
        code: 'chat_gone',
        retryable: false,
      });
    });

    test('admits that it does not know when the connection broke after the request left', async () => {
      rig.faults.dropAfterSend();
      expect(await failure(deliver({ kind: 'text', markdown: 'sent all the same' }))).toMatchObject({
        code: 'send_unknown',
      });
      expect(texts()).toHaveLength(1);
    });

    test('does not know either when the server failed', async () => {
      rig.faults.serverError();
      expect((await failure(deliver({ kind: 'text', markdown: 'x' }))).code).toMatch(
        /^(send_unknown|platform_unreachable)$/,
      );
    });

    test('carries the thread on every call', async () => {
      if (rig.thread === null) return expect(rig.platform.capabilities.threads).toBe(false);
      const { messageId } = await deliver({ kind: 'text', markdown: 'in the thread' }, rig.thread);
      await deliver({ kind: 'card', card }, rig.thread);
      await rig.platform.showActivity(rig.thread, 'working', options().signal);
      await rig.platform.edit(
        rig.thread,
        messageId,
        renderOne({ kind: 'text', markdown: 'edited' }),
        options().signal,
      );
      const shown = rig.shown(rig.thread);
      expect(shown).toHaveLength(2);
      for (const message of shown) expect(message.threadId).toBe(rig.thread.threadId);
    });

    test('answers a message that is gone without tying the answer to it', async () => {
      await deliver({ kind: 'text', markdown: 'still here' }, rig.chat, { replyTo: '999999' });
      expect(texts()).toEqual([expect.stringContaining('still here')]);
    });
  });
}
