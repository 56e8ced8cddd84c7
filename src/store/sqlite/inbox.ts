import type { InboundEvent } from '../../../platforms/platform.ts';
import type { InboxRow, InboxTable } from '../inbox.ts';
import { integer, json, type Row, type Statements, text, toOlderMessage } from './rows.ts';

export function createInboxTable(sql: Statements): InboxTable {
  const forEach = (ids: readonly number[], statement: string, value: string) => {
    for (const id of ids) sql.run(statement, value, id);
  };
  return {
    async add(row) {
      const { changes, id } = sql.run(
        `INSERT INTO inbox (platform, event_id, session_key, message_id, event, state, role, group_key, ready_at, received_at)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (platform, event_id) DO NOTHING`,
        row.platform,
        row.eventId,
        row.sessionKey,
        row.event.messageId,
        JSON.stringify(row.event),
        row.state,
        row.role,
        row.groupKey,
        row.readyAt,
        row.receivedAt,
      );
      return changes === 0 ? null : id;
    },
    async waiting(sessionKey) {
      return sql
        .all(
          `SELECT * FROM inbox WHERE session_key = ? AND state = 'new' AND role <> 'command' ORDER BY id`,
          sessionKey,
        )
        .map(toRow);
    },
    async countWaiting(sessionKey) {
      const row = sql.get(
        `SELECT count(*) AS n FROM inbox WHERE session_key = ? AND state = 'new' AND role <> 'command'`,
        sessionKey,
      );
      return row ? integer(row, 'n') : 0;
    },
    async taken(sessionKey) {
      return sql
        .all(`SELECT * FROM inbox WHERE session_key = ? AND state = 'taken' ORDER BY id`, sessionKey)
        .map(toRow);
    },
    async setState(ids, state) {
      forEach(ids, 'UPDATE inbox SET state = ? WHERE id = ?', state);
    },
    async setRole(ids, role) {
      forEach(ids, 'UPDATE inbox SET role = ? WHERE id = ?', role);
    },
    async settle(sessionKey, state) {
      sql.run(`UPDATE inbox SET state = ? WHERE session_key = ? AND state = 'taken'`, state, sessionKey);
    },
    async delayGroup(sessionKey, groupKey, readyAt) {
      sql.run(
        `UPDATE inbox SET ready_at = ? WHERE session_key = ? AND state = 'new' AND group_key = ?`,
        readyAt,
        sessionKey,
        groupKey,
      );
    },
    async editWaiting(sessionKey, messageId, newText) {
      const { changes } = sql.run(
        `UPDATE inbox SET event = json_set(event, '$.text', ?) WHERE session_key = ? AND state = 'new' AND message_id = ?`,
        newText,
        sessionKey,
        messageId,
      );
      return changes > 0;
    },
    async waitingCommands() {
      return sql.all(`SELECT * FROM inbox WHERE state = 'new' AND role = 'command' ORDER BY id`).map(toRow);
    },
    async sessionsWithWork() {
      return sql
        .all(
          `SELECT session_key FROM inbox WHERE state = 'new' UNION SELECT session_key FROM inbox WHERE state = 'taken'`,
        )
        .map((row) => text(row, 'session_key'));
    },
    async receivedBy(platform, at, limit) {
      return sql
        .all(
          `SELECT json_extract(event, '$.chat') AS chat, message_id FROM inbox
           WHERE platform = ? AND received_at <= ? ORDER BY received_at DESC LIMIT ?`,
          platform,
          at,
          limit,
        )
        .map(toOlderMessage);
    },
    async depth() {
      const row = sql.get(
        `SELECT (SELECT count(*) FROM inbox WHERE state = 'new') + (SELECT count(*) FROM inbox WHERE state = 'taken') AS n`,
      );
      return row ? integer(row, 'n') : 0;
    },
    async prune(before) {
      sql.run(`DELETE FROM inbox WHERE received_at < ? AND state IN ('done', 'dead')`, before);
    },
  };
}

function toRow(row: Row): InboxRow {
  return {
    id: integer(row, 'id'),
    platform: text(row, 'platform'),
    eventId: text(row, 'event_id'),
    sessionKey: text(row, 'session_key'),
    event: json<InboundEvent>(row, 'event'),
    state: oneOf(text(row, 'state'), ['new', 'taken', 'done', 'dead']),
    role: oneOf(text(row, 'role'), ['turn', 'steer', 'context', 'command']),
    groupKey: text(row, 'group_key'),
    readyAt: integer(row, 'ready_at'),
    receivedAt: integer(row, 'received_at'),
  };
}

/** Narrows a stored word to the union that it was written from. */
export function oneOf<const T extends string>(value: string, allowed: readonly T[]): T {
  for (const candidate of allowed) if (candidate === value) return candidate;
  throw new TypeError(`unexpected value ${value} in the store`);
}
