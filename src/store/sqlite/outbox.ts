import type { ChatAddress } from '../../../platforms/platform.ts';
import type { OutboxOp, OutboxRow, OutboxTable } from '../outbox.ts';
import { oneOf } from './inbox.ts';
import {
  integer,
  integerOrNull,
  json,
  type Row,
  type Statements,
  text,
  textOrNull,
  toOlderMessage,
} from './rows.ts';

export function createOutboxTable(sql: Statements): OutboxTable {
  const get = (id: number) => {
    const row = sql.get('SELECT * FROM outbox WHERE id = ?', id);
    return row ? toRow(row) : null;
  };
  return {
    async add(row) {
      const { id } = sql.run(
        `INSERT INTO outbox (platform, chat, chat_key, session_key, op, purpose, key, state, created_at)
         VALUES (?, ?, ?, ?, ?, ?, ?, 'new', ?)`,
        row.platform,
        JSON.stringify(row.chat),
        row.chatKey,
        row.sessionKey,
        JSON.stringify(row.op),
        row.purpose,
        row.key,
        row.createdAt,
      );
      return { ...row, id, state: 'new', messageId: null, attempts: 0, lastError: null };
    },
    async get(id) {
      return get(id);
    },
    async waiting() {
      return sql.all(`SELECT * FROM outbox WHERE state = 'new' ORDER BY id`).map(toRow);
    },
    async markSent(id, messageId, at) {
      sql.run(
        `UPDATE outbox SET state = 'sent', message_id = ?, sent_at = ? WHERE id = ?`,
        messageId,
        at,
        id,
      );
    },
    async addBeside(row, messageId) {
      const { id } = await this.add(row);
      if (messageId === null) await this.markDead(id, 'not known to have arrived');
      else await this.markSent(id, messageId, row.createdAt);
    },
    async sentBy(platform, at, limit) {
      return sql
        .all(
          `SELECT chat, message_id FROM outbox
           WHERE platform = ? AND state = 'sent' AND message_id IS NOT NULL AND sent_at <= ? ORDER BY id DESC LIMIT ?`,
          platform,
          at,
          limit,
        )
        .map(toOlderMessage);
    },
    async lastSentAt(chatKey) {
      const row = sql.get(
        `SELECT max(sent_at) AS at FROM outbox
         WHERE chat_key = ? AND id > (SELECT coalesce(max(id), 0) FROM outbox) - ${lookBackRows}`,
        chatKey,
      );
      return (row && integerOrNull(row, 'at')) ?? 0;
    },
    async isClouded(row, since) {
      const { chatId } = row.chat;
      return (
        sql.get(
          `SELECT 1 FROM outbox WHERE platform = ?1 AND id <> ?2 AND id > ?2 - ${lookBackRows}
             AND json_extract(chat, '$.chatId') = ?3 AND json_extract(op, '$.kind') <> 'remove'
             AND (chat_key <> ?4 AND (state = 'new' OR sent_at > ?5 OR state = 'dead')
               OR chat_key = ?4 AND state = 'dead' AND id < ?2 AND id > coalesce(
                 (SELECT max(id) FROM outbox WHERE chat_key = ?4 AND state = 'sent' AND id < ?2 AND id > ?2 - ${lookBackRows}),
                 0))
           LIMIT 1`,
          row.platform,
          row.id,
          chatId,
          row.chatKey,
          since,
        ) !== undefined
      );
    },
    async markFailed(id, error) {
      sql.run('UPDATE outbox SET attempts = attempts + 1, last_error = ? WHERE id = ?', error, id);
    },
    async markDead(id, error) {
      sql.run(
        `UPDATE outbox SET state = 'dead', attempts = attempts + 1, last_error = ? WHERE id = ?`,
        error,
        id,
      );
    },
    async openStream(sessionKey) {
      const row = sql.get(
        `SELECT * FROM outbox WHERE session_key = ? AND purpose = 'stream' ORDER BY id DESC LIMIT 1`,
        sessionKey,
      );
      return row ? toRow(row) : null;
    },
    async closeStreams(sessionKey) {
      sql.run(`UPDATE outbox SET purpose = 'final' WHERE session_key = ? AND purpose = 'stream'`, sessionKey);
    },
    async depth() {
      const row = sql.get(`SELECT count(*) AS n FROM outbox WHERE state = 'new'`);
      return row ? integer(row, 'n') : 0;
    },
    async dead(limit) {
      return sql
        .all(
          `SELECT * FROM outbox WHERE state = 'dead' AND purpose <> 'progress' ORDER BY id DESC LIMIT ?`,
          limit,
        )
        .map(toRow);
    },
    async prune(before) {
      sql.run(`DELETE FROM outbox WHERE created_at < ? AND state <> 'new'`, before);
    },
  };
}

/** A message whose place among the newest ones is in question was added not long ago. */
const lookBackRows = 1_000;

function toRow(row: Row): OutboxRow {
  return {
    id: integer(row, 'id'),
    platform: text(row, 'platform'),
    chat: json<ChatAddress>(row, 'chat'),
    chatKey: text(row, 'chat_key'),
    sessionKey: text(row, 'session_key'),
    op: json<OutboxOp>(row, 'op'),
    purpose: oneOf(text(row, 'purpose'), ['card', 'final', 'notice', 'interim', 'stream', 'progress']),
    key: text(row, 'key'),
    state: oneOf(text(row, 'state'), ['new', 'sent', 'dead']),
    messageId: textOrNull(row, 'message_id'),
    attempts: integer(row, 'attempts'),
    lastError: textOrNull(row, 'last_error'),
    createdAt: integer(row, 'created_at'),
  };
}
