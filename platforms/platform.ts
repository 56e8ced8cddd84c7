/**
 * The port that every chat platform implements. The gateway knows a platform only through this file; an adapter
 * knows the gateway only through `PlatformSink`.
 *
 * Division of labour: the adapter turns the platform's events into `InboundEvent`s and one `Payload` into one API
 * call. Storing, ordering per chat, pacing, retrying, deciding who may speak or press are the gateway's.
 */

export type ChatKind = 'dm' | 'group' | 'channel' | 'thread';

/** Where a message came from and where answers go. Every outbound call carries the thread. */
export interface ChatAddress {
  platform: string;
  kind: ChatKind;
  chatId: string;
  /** Forum topic, Discord thread or Slack thread; absent in a chat's main flow. */
  threadId?: string;
  /** Slack team; absent elsewhere. Part of the session key. */
  workspaceId?: string;
}

export interface Sender {
  /** The platform's stable id; names are for display only and never grant anything. */
  id: string;
  name: string;
  isBot: boolean;
  /** BCP 47 language tag as the platform gives it. */
  locale?: string;
  /** Role ids (Discord). */
  roles?: readonly string[];
}

export type MediaKind = 'photo' | 'video' | 'audio' | 'voice' | 'document' | 'sticker';

/** A file that came with a message. `ref` is what `download` takes; it stays valid across a restart. */
export interface Attachment {
  kind: MediaKind;
  ref: string;
  name?: string;
  mimeType?: string;
  bytes?: number;
  /** What the platform itself says of it, such as a sticker's emoji. */
  description?: string;
}

export interface InboundEvent {
  /** Unique per bot: the key that a redelivered event repeats. */
  eventId: string;
  /** `edit` carries the new text of an earlier message; `context` is remembered but asks for no answer. */
  kind: 'message' | 'edit' | 'context';
  chat: ChatAddress;
  chatTitle?: string;
  sender: Sender;
  messageId: string;
  /** Plain text; a slash command arrives as `/name arguments` whatever the platform's own form. */
  text: string;
  /** Whether the bot was spoken to: a DM, a mention, a reply to the bot, a command for it, its own thread. */
  addressed: boolean;
  replyTo?: { messageId: string; text?: string; toBot: boolean };
  attachments: readonly Attachment[];
  /** Equal for the parts of one album; the gateway joins them into one message. */
  albumId?: string;
  /** Milliseconds since the epoch, by the platform's clock. */
  sentAt: number;
}

/** A press on a card's button. */
export interface Press {
  /** Unique per bot, like `InboundEvent.eventId`. */
  eventId: string;
  chat: ChatAddress;
  sender: Sender;
  /** Message that bears the button. */
  messageId: string;
  /** `CardButton.id` of the pressed button. */
  buttonId: string;
  /** Text typed in a form that the press opened, such as a reason. */
  input?: string;
}

/** What the presser alone is shown, at once. `alert` asks for attention (a refusal). */
export interface PressReply {
  text: string;
  alert: boolean;
}

export type PlatformState =
  | { state: 'connecting' }
  | { state: 'connected'; account: string }
  | { state: 'retrying'; reason: string }
  | { state: 'fatal'; code: string; reason: string; mend?: string }
  | { state: 'disconnected' };

export interface PlatformSink {
  /** Resolves once the event is stored. When it rejects, the adapter must not acknowledge the event. */
  receive(event: InboundEvent): Promise<void>;
  /** Resolves once the decision is stored; never waits for a turn. */
  press(press: Press): Promise<PressReply>;
  report(state: PlatformState): void;
  /** Called for every completed contact with the platform (an empty poll, a heartbeat): food for the watchdog. */
  alive(): void;
}

// ---------------------------------------------------------------- outbound

export type ButtonStyle = 'success' | 'primary' | 'danger' | 'neutral';

export interface CardButton {
  /** At most 64 bytes of ASCII, opaque to the adapter. */
  id: string;
  label: string;
  style: ButtonStyle;
  /** A question to confirm first, on platforms that can ask one. */
  confirm?: string;
  /** What the way back out of that question is called. */
  cancelLabel?: string;
  /** Label of a text field to ask for before the press is reported, on platforms that can. */
  askInput?: string;
}

/** A half-open range of UTF-16 units. */
export interface TextSpan {
  start: number;
  end: number;
}

export type CardBlock =
  | { kind: 'text'; text: string }
  /** `marks` are to be shown bold or underlined where the platform can within code. */
  | { kind: 'code'; text: string; marks?: readonly TextSpan[] }
  | { kind: 'facts'; facts: readonly { label: string; text: string }[] };

/** An approval, a question or its outcome. All text is plain; the adapter escapes it. */
export interface Card {
  title: string;
  tone: 'warning' | 'question' | 'success' | 'danger' | 'neutral';
  blocks: readonly CardBlock[];
  /** Rows of buttons; empty once decided. */
  buttons: readonly (readonly CardButton[])[];
  footer?: string;
  /** When it lapses, milliseconds since the epoch: for platforms that can count down to it. */
  expiresAt?: number;
}

export type OutboundContent =
  /** Markdown as a model writes it: untrusted, may ping nobody and link to http(s), mailto and tg only. */
  | { kind: 'text'; markdown: string }
  /** Tool progress, one line a step, plain text. */
  | { kind: 'progress'; lines: readonly string[] }
  | { kind: 'card'; card: Card }
  | { kind: 'file'; path: string; name: string; as: MediaKind; caption?: string };

/** One API call's worth of content, rendered for one platform. JSON only: it is stored before it is sent. */
export type Payload = { readonly [key: string]: unknown };

export interface DeliverOptions {
  /** Stable over retries of one payload; passed on as the platform's idempotency key where it has one. */
  key: string;
  /** Answer to this message, where the platform shows such. A vanished one is no error. */
  replyTo?: string;
  /** For the author of `replyTo` alone, where the platform can; an ordinary message elsewhere. */
  private?: boolean;
  silent?: boolean;
  signal: AbortSignal;
}

/**
 * A message, of any chat of the bot, that was there before the one that is looked for. None are given when the chat
 * may hold yet another message of the bot whose id nobody knows: it could be taken for the one that is looked for.
 */
export interface OlderMessage {
  chat: ChatAddress;
  messageId: string;
}

export interface PlatformCapabilities {
  /** A person is there to be asked. False for webhooks and one-shot runs: what needs approval is refused at once. */
  attended: boolean;
  buttons: boolean;
  edits: boolean;
  threads: boolean;
  reactions: boolean;
  files: boolean;
  /** How an unfinished answer is shown: a draft preview (DMs only), edits of one message, or not at all. */
  stream: 'draft' | 'edit' | 'none';
  /** Whether `draft` works in this chat. */
  draftKinds: readonly ChatKind[];
  /** Two `deliver` calls with one key show one message. */
  idempotentSend: boolean;
  /**
   * The longest time between two calls of `sink.alive` while all is well; absent where nothing proves that the
   * platform is there. One that is silent for three times as long is connected anew.
   */
  aliveEveryMs?: number;
  /** The platform keeps undelivered events and sends them after a restart. */
  replaysMissed: boolean;
  limits: {
    textUnits: number;
    captionUnits: number;
    buttonIdBytes: number;
    fileBytesIn: number;
    fileBytesOut: number;
  };
  /** Long-term pace and burst, for the outbound scheduler. */
  pace: {
    perChatPerSecond: number;
    perChatBurst: number;
    groupPerMinute: number;
    perBotPerSecond: number;
    minEditIntervalMs: number;
  };
}

/** A web-standard handler that the gateway's HTTP server mounts. Authenticates its caller itself. */
export interface PlatformRoute {
  method: 'GET' | 'POST';
  path: string;
  /** The largest body accepted; 1 MiB when absent. */
  maxBodyBytes?: number;
  handle(request: Request): Promise<Response>;
}

export interface BotCommand {
  name: string;
  description: string;
}

/** Small durable memory of an adapter, such as threads it takes part in. Values are JSON. */
export interface PlatformMemory {
  get(key: string): Promise<unknown>;
  set(key: string, value: unknown): Promise<void>;
  delete(key: string): Promise<void>;
  list(prefix: string): Promise<{ key: string; value: unknown }[]>;
}

/**
 * Every method rejects with a `GatewayError` only: `platform_rate_limited` (with `retryAfterMs`), `chat_gone`
 * (blocked, kicked, deleted: never retried), `send_unknown` (the request left, its outcome is not known),
 * `platform_unreachable` (surely not delivered, retryable), `platform_refused` (a fault of ours; not retried).
 */
export interface Platform {
  readonly name: string;
  readonly capabilities: PlatformCapabilities;
  readonly routes: readonly PlatformRoute[];
  /** Resolves when events flow. Later trouble is reported by `sink.report` and mended by the adapter itself. */
  connect(sink: PlatformSink, commands: readonly BotCommand[], signal: AbortSignal): Promise<void>;
  disconnect(): Promise<void>;
  /** Pure. A text over the limit becomes several payloads; nothing of it is lost. */
  render(content: OutboundContent): Payload[];
  deliver(chat: ChatAddress, payload: Payload, options: DeliverOptions): Promise<{ messageId: string }>;
  /**
   * The message id under which an earlier `deliver` with this key arrived, or null when it is not there. Rejects with
   * `send_unknown` when that cannot be told. `older` tells where to begin for an adapter that can do no better than to
   * try the ids that came next.
   */
  findDelivered(
    chat: ChatAddress,
    payload: Payload,
    key: string,
    signal: AbortSignal,
    older?: readonly OlderMessage[],
  ): Promise<string | null>;
  /** An edit that changes nothing succeeds. */
  edit(chat: ChatAddress, messageId: string, payload: Payload, signal: AbortSignal): Promise<void>;
  remove(chat: ChatAddress, messageId: string, signal: AbortSignal): Promise<void>;
  /** Shows or renews (`working`) or ends (`idle`) the sign that the bot is at work. Best effort. */
  showActivity(chat: ChatAddress, activity: 'working' | 'idle', signal: AbortSignal): Promise<void>;
  /** Shows `markdown` as the unfinished answer `draftId`; called only where `capabilities.stream` is `draft`. */
  draft(chat: ChatAddress, draftId: number, markdown: string, signal: AbortSignal): Promise<void>;
  react(chat: ChatAddress, messageId: string, emoji: string | null, signal: AbortSignal): Promise<void>;
  /** Fetches an attachment into `path` (0600). Rejects with a clear message above the size limit. */
  download(attachment: Attachment, path: string, signal: AbortSignal): Promise<void>;
}
