import type { InboundEvent } from '../../platforms/platform.ts';
import type { Decisions } from '../approvals/decide.ts';
import type { Clock } from '../clock.ts';
import { GatewayError } from '../errors.ts';
import type { Log } from '../log.ts';
import { messagesFor } from '../messages/messages.ts';
import type { ApprovalRow } from '../store/approvals.ts';
import type { InboxRow, NewInboxRow } from '../store/inbox.ts';
import type { SessionRow } from '../store/sessions.ts';
import type { Store, Transaction } from '../store/store.ts';
import { type AccessRules, accessOf } from './access.ts';
import { parseCommand } from './commands/parse.ts';
import type { Pairing } from './pairing.ts';
import { plainDecision } from './plain-words.ts';
import type { Replies } from './replies.ts';
import { type SessionKeyRules, sessionKeyOf } from './session-key.ts';
import { noBlame } from './turn/blame.ts';
import { newSessionId } from './turn/intake.ts';
import type { Lanes } from './turn/lanes.ts';

/** Parts of an album come within this time of each other. */
const albumGapMs = 800;
/** A text this long was probably split by the sender's app, and the rest follows. */
const splitUnits = 3_900;
const splitGapMs = 2_000;
const fragmentGapMs = 600;
const ackEveryMs = 30_000;
/** How far a platform's clock may be behind this one's. */
const clockSlackMs = 5_000;

export interface InboundSettings {
  access: AccessRules;
  keys: SessionKeyRules;
  busyMode: 'interrupt' | 'queue' | 'steer';
  busyAck: boolean;
  queueLimit: number;
}

export interface InboundOptions {
  store: Store;
  clock: Clock;
  log: Log;
  lanes: Lanes;
  decisions: Decisions;
  pairing: Pairing;
  replies: Replies;
  settings(platform: string): InboundSettings;
  /** Carries out a stored command; never waited for by the platform. */
  runCommand(row: Pick<InboxRow, 'id' | 'event' | 'sessionKey'>): void;
  language(event: InboundEvent): string;
}

/**
 * Takes an event in: who may speak, what it is, stored; all within one transaction, before the platform is told
 * that it was received. Nothing here waits for a turn.
 */
export type Receive = (event: InboundEvent) => Promise<void>;

export function createReceive(options: InboundOptions): Receive {
  const { store, clock, lanes, decisions, replies } = options;
  const lastAck = new Map<string, number>();

  async function receive(event: InboundEvent): Promise<void> {
    const settings = options.settings(event.chat.platform);
    const key = sessionKeyOf(event, settings.keys);
    if (event.kind === 'context') return void (await storeEvent(event, key, { role: 'context' }));
    if (!event.addressed && event.kind === 'message') return;
    const access = await accessOf(event, settings.access, (userId) =>
      options.pairing.isApproved(event.chat.platform, userId),
    );
    if (access.kind === 'stranger') return access.mayPair ? offerPairing(event) : undefined;
    if (event.kind === 'edit') {
      await store.transaction((tables) => tables.inbox.editWaiting(key, event.messageId, event.text));
      return;
    }
    const command = parseCommand(event.text);
    if (command && event.attachments.length === 0) {
      return void (await storeEvent(event, key, { role: 'command' }, (id) =>
        options.runCommand({ id, event, sessionKey: key }),
      ));
    }
    await receiveMessage(event, key, settings, access.isAdmin);
  }

  async function offerPairing(event: InboundEvent): Promise<void> {
    const { platform } = event.chat;
    const code = await options.pairing.request(platform, event.sender.id, event.sender.name);
    if (code === null) return;
    const text = messagesFor(options.language(event)).access.pairing(code, platform);
    await store.transaction((tables) => replies.add(tables, { key: '', chat: event.chat }, text));
  }

  async function receiveMessage(
    event: InboundEvent,
    key: string,
    settings: InboundSettings,
    isAdmin: boolean,
  ): Promise<void> {
    // Looked at before the message is stored: a turn that begins after may be about this very message.
    const running = lanes.current(key);
    const session = await store.read.sessions.get(key);
    const pending = session && session.turn !== 'idle' ? await store.read.approvals.pending(key) : [];
    const meant = await requestMeant(event, pending);
    if (meant && (await decidedByText(event, key, meant, isAdmin))) return;
    const busy = session !== null && session.turn !== 'idle';
    const mode = session?.settings.busyMode ?? settings.busyMode;
    if (busy && mode !== 'interrupt' && (await isFull(event, key, settings.queueLimit))) return;
    const isMedia = event.attachments.length > 0;
    const interrupts = busy && mode === 'interrupt' && !isMedia;
    const stored = await storeEvent(event, key, {
      role: busy && mode === 'steer' && !isMedia ? 'steer' : 'turn',
      ...(await groupOf(event, key)),
    });
    if (!stored) return;
    if (interrupts) {
      running?.interrupt('superseded');
      for (const row of pending) await decisions.withdraw(row.id);
    }
    if (busy && settings.busyAck)
      await acknowledge(event, key, interrupts ? 'interrupt' : mode === 'interrupt' ? 'queue' : mode);
    lanes.wake(key);
  }

  /**
   * The request that a plain message can be about: the one whose card it replies to, else the oldest. None when it
   * replies to something else, or was written before there was a card, as a message is that waited for a restart.
   */
  async function requestMeant(
    { replyTo, sentAt }: InboundEvent,
    pending: readonly ApprovalRow[],
  ): Promise<ApprovalRow | undefined> {
    const seen = pending.filter((row) => sentAt === 0 || sentAt + clockSlackMs >= row.createdAt);
    if (!replyTo?.toBot) return seen[0];
    for (const row of seen) {
      const card = row.cardId === null ? null : await store.read.outbox.get(row.cardId);
      if (card?.messageId === replyTo.messageId) return row;
    }
    return undefined;
  }

  /** Answers a question, or says yes or no to an approval, in plain words. The event is stored as handled with it. */
  async function decidedByText(
    event: InboundEvent,
    key: string,
    row: ApprovalRow,
    isAdmin: boolean,
  ): Promise<boolean> {
    if (event.sender.id !== row.askerId && !isAdmin) return false;
    const by = { id: event.sender.id, name: event.sender.name, isAdmin };
    let isRepeated = false;
    const also = async (tables: Transaction) => {
      isRepeated = (await tables.inbox.add(newInboxRow(event, key, { state: 'done' }))) === null;
      // A "yes" that is delivered again must not decide the card that has come since.
      if (isRepeated) throw new GatewayError('cancelled', 'This message was handled before.');
    };
    const choice = plainDecision(event.text);
    try {
      if (row.ask.kind === 'question')
        return (await decisions.answer(row.id, event.text, by, also)).kind === 'decided';
      if (!choice) return false;
      return (await decisions.decide(row.id, choice, by, undefined, also)).kind === 'decided';
    } catch (error) {
      if (isRepeated) return true;
      throw error;
    }
  }

  async function isFull(event: InboundEvent, key: string, limit: number): Promise<boolean> {
    if ((await store.read.inbox.countWaiting(key)) < limit) return false;
    const text = messagesFor(options.language(event)).busy.full(limit);
    await store.transaction(async (tables) => {
      const isNew = (await tables.inbox.add(newInboxRow(event, key, { state: 'dead' }))) !== null;
      if (isNew) await replies.add(tables, { key, chat: event.chat }, text);
    });
    return true;
  }

  async function groupOf(event: InboundEvent, key: string): Promise<Partial<NewInboxRow>> {
    const now = clock.now();
    if (event.albumId !== undefined) return { groupKey: `album:${event.albumId}`, readyAt: now + albumGapMs };
    const isSplit = event.text.length >= splitUnits;
    const waiting = await store.read.inbox.waiting(key);
    const open = waiting.findLast(
      (row) =>
        row.groupKey.startsWith('split:') && row.readyAt > now && row.event.sender.id === event.sender.id,
    );
    if (open) return { groupKey: open.groupKey, readyAt: now + (isSplit ? splitGapMs : fragmentGapMs) };
    return isSplit ? { groupKey: `split:${event.eventId}`, readyAt: now + splitGapMs } : {};
  }

  /** False when the event was stored before. */
  async function storeEvent(
    event: InboundEvent,
    key: string,
    change: Partial<NewInboxRow>,
    onStored?: (rowId: number) => void,
  ): Promise<boolean> {
    const row = newInboxRow(event, key, change);
    return store.transaction(async (tables) => {
      const rowId = await tables.inbox.add(row);
      if (rowId === null) return false;
      if (!(await tables.sessions.get(key))) await tables.sessions.create(newSession(event, key));
      if (row.readyAt > row.receivedAt) await tables.inbox.delayGroup(key, row.groupKey, row.readyAt);
      tables.onCommit(() => onStored?.(rowId));
      return true;
    });
  }

  function newInboxRow(event: InboundEvent, key: string, change: Partial<NewInboxRow>): NewInboxRow {
    const now = clock.now();
    return {
      platform: event.chat.platform,
      eventId: event.eventId,
      sessionKey: key,
      event,
      state: 'new',
      role: 'turn',
      groupKey: event.eventId,
      readyAt: now,
      receivedAt: now,
      ...change,
    };
  }

  function newSession(event: InboundEvent, key: string): SessionRow {
    const now = clock.now();
    return {
      key,
      sessionId: newSessionId(now),
      chat: event.chat,
      userId: event.sender.id,
      userName: event.sender.name,
      locale: options.language(event),
      turn: 'idle',
      blame: noBlame,
      settings: {},
      createdAt: now,
      updatedAt: now,
    };
  }

  async function acknowledge(
    event: InboundEvent,
    key: string,
    mode: 'interrupt' | 'queue' | 'steer',
  ): Promise<void> {
    const now = clock.now();
    if (now - (lastAck.get(key) ?? 0) < ackEveryMs) return;
    lastAck.set(key, now);
    const { busy } = messagesFor(options.language(event));
    const text = mode === 'queue' ? busy.queue(await store.read.inbox.countWaiting(key)) : busy[mode];
    await store.transaction((tables) => replies.add(tables, { key, chat: event.chat }, text));
  }

  return receive;
}
