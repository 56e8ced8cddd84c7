import type { Platform } from '../../platforms/platform.ts';
import type { Clock } from '../clock.ts';
import type { OutboxRow } from '../store/outbox.ts';
import type { SessionRow } from '../store/sessions.ts';
import type { Transaction } from '../store/store.ts';
import { newRow } from './turn/answer.ts';

/** Says something in a chat on the gateway's own account: durable, in order, like an answer. */
export interface Replies {
  add(
    tables: Transaction,
    target: Pick<SessionRow, 'key' | 'chat'>,
    markdown: string,
    how?: { replyTo: string; private: boolean },
  ): Promise<void>;
}

export interface RepliesOptions {
  clock: Clock;
  platforms: ReadonlyMap<string, Platform>;
  onOutbox(rows: readonly OutboxRow[]): void;
}

export function createReplies({ clock, platforms, onOutbox }: RepliesOptions): Replies {
  return {
    async add(tables, target, markdown, how) {
      const payloads = platforms.get(target.chat.platform)?.render({ kind: 'text', markdown }) ?? [];
      const stored: OutboxRow[] = [];
      for (const payload of payloads) {
        stored.push(
          await tables.outbox.add(newRow(target, { kind: 'send', payload, ...how }, 'notice', clock.now())),
        );
      }
      tables.onCommit(() => onOutbox(stored));
    },
  };
}
