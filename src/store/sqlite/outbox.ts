import type { ChatAddress } from '../../../platforms/platform.ts';
import type { OutboxOp, OutboxRow, OutboxTable } from '../outbox.ts';
import { oneOf } from './inbox.ts';
import { integer, json, type Row, type Statements, text, textOrNull } from './rows.ts';

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
    async markSent(id, messageId) {
      sql.run(`UPDATE outbox SET state = 'sent', message_id = ? WHERE id = ?`, messageId, id);
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
      return sql.all(`SELECT * FROM outbox WHERE state = 'dead' ORDER BY id DESC LIMIT ?`, limit).map(toRow);
    },
    async prune(before) {
      sql.run(`DELETE FROM outbox WHERE created_at < ? AND state <> 'new'`, before);
    },
  };
}

function toRow(row: Row): OutboxRow {
  return {
    id: integer(row, 'id'),
    platform: text(row, 'platform'),
    chat: json<ChatAddress>(row, 'chat'),
    chatKey: text(row, 'chat_key'),
    sessionKey: text(row, 'session_key'),
    op: json<OutboxOp>(row, 'op'),
    purpose: oneOf(text(row, 'purpose'), ['card', 'final', 'notice', 'interim', 'stream']),
    key: text(row, 'key'),
    state: oneOf(text(row, 'state'), ['new', 'sent', 'dead']),
    messageId: textOrNull(row, 'message_id'),
    attempts: integer(row, 'attempts'),
    lastError: textOrNull(row, 'last_error'),
    createdAt: integer(row, 'created_at'),
  };
}
