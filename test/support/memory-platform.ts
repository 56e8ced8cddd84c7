import type {
  Card,
  ChatAddress,
  InboundEvent,
  OutboundContent,
  Payload,
  Platform,
  PlatformSink,
  PressReply,
} from '../../platforms/platform.ts';
import { GatewayError } from '../../src/errors.ts';

/** What a chat of the in-memory platform shows. */
export interface ShownMessage {
  id: string;
  chatId: string;
  content: OutboundContent;
  edits: number;
}

/** A platform in memory with a person at the other end: the smallest real implementation of the port. */
export interface MemoryPlatform extends Platform {
  shown: ShownMessage[];
  says(text: string, options?: Partial<InboundEvent> & { user?: string; chatId?: string }): Promise<void>;
  presses(label: RegExp, options?: { user?: string }): Promise<PressReply>;
  /** Presses a button by its id, as a client does that still shows an old card. */
  pressesId(buttonId: string, options?: { user?: string; messageId?: string }): Promise<PressReply>;
  /** The next calls of `deliver` fail with these. */
  failNext: GatewayError[];
  texts(chatId?: string): string[];
  card(): Card | undefined;
}

export function createMemoryPlatform(
  name = 'telegram',
  change: Partial<Platform['capabilities']> = {},
): MemoryPlatform {
  let sink: PlatformSink | null = null;
  let serial = 0;
  const shown: ShownMessage[] = [];
  const failNext: GatewayError[] = [];
  const contentOf = (payload: Payload): OutboundContent => JSON.parse(String(payload['content']));
  const chatOf = (chatId: string): ChatAddress => ({ platform: name, kind: 'dm', chatId });

  return {
    name,
    shown,
    failNext,
    routes: [],
    capabilities: {
      attended: true,
      buttons: true,
      edits: true,
      threads: true,
      reactions: true,
      files: true,
      stream: 'none',
      draftKinds: [],
      idempotentSend: false,
      replaysMissed: true,
      limits: { textUnits: 4096, captionUnits: 1024, buttonIdBytes: 64, fileBytesIn: 1e6, fileBytesOut: 1e6 },
      pace: {
        perChatPerSecond: Number.POSITIVE_INFINITY,
        perChatBurst: Number.POSITIVE_INFINITY,
        groupPerMinute: Number.POSITIVE_INFINITY,
        perBotPerSecond: Number.POSITIVE_INFINITY,
        minEditIntervalMs: 0,
      },
      ...change,
    },
    async connect(given) {
      sink = given;
      sink.report({ state: 'connected', account: 'bot' });
    },
    async disconnect() {
      sink = null;
    },
    render(content) {
      if (content.kind === 'card' && JSON.stringify(content).length > 6000)
        throw new GatewayError('usage', 'too long');
      return [{ content: JSON.stringify(content) }];
    },
    async deliver(chat, payload) {
      const failure = failNext.shift();
      if (failure) throw failure;
      serial += 1;
      shown.push({ id: String(serial), chatId: chat.chatId, content: contentOf(payload), edits: 0 });
      return { messageId: String(serial) };
    },
    async findDelivered() {
      throw new GatewayError('send_unknown', 'nobody can tell');
    },
    async edit(_chat, messageId, payload) {
      const message = shown.find((one) => one.id === messageId);
      if (!message) throw new GatewayError('platform_refused', 'message to edit not found');
      message.content = contentOf(payload);
      message.edits += 1;
    },
    async remove(_chat, messageId) {
      shown.splice(
        shown.findIndex((one) => one.id === messageId),
        1,
      );
    },
    showActivity: async () => undefined,
    draft: async () => undefined,
    react: async () => undefined,
    download: async () => undefined,
    async says(text, { user = 'ann', chatId = '1', ...rest } = {}) {
      serial += 1;
      await sink?.receive({
        eventId: `e${serial}`,
        kind: 'message',
        chat: chatOf(chatId),
        sender: { id: user, name: user, isBot: false, locale: 'en' },
        messageId: `m${serial}`,
        text,
        addressed: true,
        attachments: [],
        sentAt: 0,
        ...rest,
      });
    },
    async presses(label, { user = 'ann' } = {}) {
      const withButtons = shown.findLast(
        (one) => one.content.kind === 'card' && one.content.card.buttons.length > 0,
      );
      const card = withButtons?.content.kind === 'card' ? withButtons.content.card : undefined;
      const button = card?.buttons.flat().find((one) => label.test(one.label));
      if (!withButtons || !button || !sink) throw new Error(`no button ${label}`);
      serial += 1;
      return sink.press({
        eventId: `p${serial}`,
        chat: chatOf(withButtons.chatId),
        sender: { id: user, name: user, isBot: false, locale: 'en' },
        messageId: withButtons.id,
        buttonId: button.id,
      });
    },
    async pressesId(buttonId, { user = 'ann', messageId = '1' } = {}) {
      if (!sink) throw new Error('not connected');
      serial += 1;
      return sink.press({
        eventId: `p${serial}`,
        chat: chatOf('1'),
        sender: { id: user, name: user, isBot: false, locale: 'en' },
        messageId,
        buttonId,
      });
    },
    texts: (chatId) =>
      shown.flatMap((one) =>
        one.content.kind === 'text' && (chatId === undefined || one.chatId === chatId)
          ? [one.content.markdown]
          : [],
      ),
    card() {
      const last = shown.findLast((one) => one.content.kind === 'card');
      return last?.content.kind === 'card' ? last.content.card : undefined;
    },
  };
}
