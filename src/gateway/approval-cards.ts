import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Card, Payload, Platform } from '../../platforms/platform.ts';
import type { ApprovalSubject } from '../approvals/subject.ts';
import type { Clock } from '../clock.ts';
import { GatewayError } from '../errors.ts';
import type { ApprovalRow } from '../store/approvals.ts';
import type { NewOutboxRow, OutboxRow } from '../store/outbox.ts';
import type { SessionRow } from '../store/sessions.ts';
import type { Tables, Transaction } from '../store/store.ts';
import { actionText, outcomeCard, requestCard } from './cards.ts';
import type { Outbound } from './outbound/outbound.ts';
import { shownAction } from './shown-text.ts';
import { newRow } from './turn/answer.ts';

export interface ApprovalCardsOptions {
  home: string;
  clock: Clock;
  platforms: ReadonlyMap<string, Platform>;
  onOutbox(rows: readonly OutboxRow[]): void;
  read: Pick<Tables, 'outbox'>;
  show: Outbound['show'];
}

/** Puts cards into the outbox, in the transaction of what they show, and keeps them true. */
export interface ApprovalCards {
  /** Whether the whole action can be shown to the person who decides. */
  canShow(session: SessionRow, subject: ApprovalSubject): boolean;
  present(row: ApprovalRow, tables: Transaction): Promise<void>;
  presentOutcome(row: ApprovalRow, tables: Transaction): Promise<void>;
  /**
   * Turns a pressed copy of a settled card into the outcome too: a send whose confirmation was lost may have shown
   * the card twice, and only the press tells where the other one is.
   */
  closeCopy(row: ApprovalRow, messageId: string): Promise<void>;
}

export function createApprovalCards(options: ApprovalCardsOptions): ApprovalCards {
  const { clock, platforms } = options;

  function platformOf(name: string): Platform {
    const platform = platforms.get(name);
    if (!platform)
      throw new GatewayError('usage', `Platform ${name} is not running, so nobody can be asked there.`);
    return platform;
  }

  /** The card as one payload, or null when it does not fit. Nothing is ever cut to make it fit. */
  function renderCard(platform: Platform, card: Card): Payload | null {
    try {
      const payloads = platform.render({ kind: 'card', card });
      return payloads.length === 1 ? (payloads[0] ?? null) : null;
    } catch (error) {
      if (error instanceof GatewayError && error.code === 'usage') return null;
      throw error;
    }
  }

  function fittingCard(
    platform: Platform,
    make: (headOnly: boolean) => Card,
  ): { payload: Payload; headOnly: boolean } {
    for (const headOnly of [false, true]) {
      const payload = renderCard(platform, make(headOnly));
      if (payload) return { payload, headOnly };
    }
    throw new GatewayError('usage', 'The card does not fit, even without the action.');
  }

  async function addAll(rows: readonly NewOutboxRow[], tables: Transaction): Promise<OutboxRow[]> {
    const stored: OutboxRow[] = [];
    for (const row of rows) stored.push(await tables.outbox.add(row));
    tables.onCommit(() => options.onOutbox(stored));
    return stored;
  }

  /** The whole action as a file, to be read before the card is answered. */
  function actionFile(row: ApprovalRow, platform: Platform): Payload | undefined {
    if (row.ask.kind !== 'approval' || !platform.capabilities.files) return undefined;
    const folder = join(options.home, 'cache', 'outgoing');
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const path = join(folder, `command-${row.id}.txt`);
    writeFileSync(path, shownAction(actionText(row.ask.subject)), { mode: 0o600 });
    return platform.render({ kind: 'file', path, name: 'command.txt', as: 'document' })[0];
  }

  return {
    canShow(session, subject) {
      const capabilities = platforms.get(session.chat.platform)?.capabilities;
      if (!capabilities) return false;
      return capabilities.files || actionText(subject).length <= capabilities.limits.textUnits / 2;
    },
    async present(row, tables) {
      const platform = platformOf(row.chat.platform);
      const { payload, headOnly } = fittingCard(platform, (head) => requestCard(row, clock.now(), head));
      const target = { key: row.sessionKey, chat: row.chat };
      const rows: NewOutboxRow[] = [];
      const file = headOnly ? actionFile(row, platform) : undefined;
      if (file)
        rows.push({
          ...newRow(target, { kind: 'send', payload: file }, 'card', clock.now()),
          key: `file-${row.id}`,
        });
      rows.push({ ...newRow(target, { kind: 'send', payload }, 'card', clock.now()), key: `card-${row.id}` });
      const cardId = (await addAll(rows, tables)).at(-1)?.id;
      if (cardId !== undefined) await tables.approvals.setCard(row.id, cardId);
    },
    async presentOutcome(row, tables) {
      const platform = platforms.get(row.chat.platform);
      if (!platform || row.cardId === null) return;
      const { payload } = fittingCard(platform, (head) => outcomeCard(row, head));
      const target = { key: row.sessionKey, chat: row.chat };
      const op = { kind: 'edit', of: row.cardId, payload, orSend: false } as const;
      await addAll([{ ...newRow(target, op, 'card', clock.now()), key: `done-${row.id}` }], tables);
    },
    async closeCopy(row, messageId) {
      const platform = platforms.get(row.chat.platform);
      if (!platform || row.cardId === null) return;
      const card = await options.read.outbox.get(row.cardId);
      if (card?.messageId === messageId) return;
      const { payload } = fittingCard(platform, (head) => outcomeCard(row, head));
      options.show(row.chat, `copy-${messageId}`, async (adapter, signal) => {
        await adapter.edit(row.chat, messageId, payload, signal);
        return undefined;
      });
    },
  };
}
