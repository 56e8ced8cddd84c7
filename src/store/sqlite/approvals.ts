import type { ApprovalDecision, ApprovalRow, ApprovalTable } from '../approvals.ts';
import { oneOf } from './inbox.ts';
import { integer, integerOrNull, json, type Row, type Statements, text } from './rows.ts';

/** What is written once, when the request is made; the rest changes with the decision. */
type Request = Pick<ApprovalRow, 'chat' | 'locale' | 'askerId' | 'askerName' | 'ask'>;

export function createApprovalTable(sql: Statements): ApprovalTable {
  const first = (row: Row | undefined) => (row ? toRow(row) : null);
  return {
    async add(row) {
      const request: Request = {
        chat: row.chat,
        locale: row.locale,
        askerId: row.askerId,
        askerName: row.askerName,
        ask: row.ask,
      };
      sql.run(
        `INSERT INTO approvals (id, session_key, session_id, call_id, request, state, created_at, expires_at, card_id)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        row.id,
        row.sessionKey,
        row.sessionId,
        row.callId,
        JSON.stringify(request),
        row.state,
        row.createdAt,
        row.expiresAt,
        row.cardId,
      );
    },
    async get(id) {
      return first(sql.get('SELECT * FROM approvals WHERE id = ?', id));
    },
    async byCall(sessionId, callId) {
      return first(
        sql.get('SELECT * FROM approvals WHERE session_id = ? AND call_id = ?', sessionId, callId),
      );
    },
    async pending(sessionKey) {
      return sql
        .all(
          `SELECT * FROM approvals WHERE session_key = ? AND state = 'pending' ORDER BY created_at`,
          sessionKey,
        )
        .map(toRow);
    },
    async allPending() {
      return sql.all(`SELECT * FROM approvals WHERE state = 'pending' ORDER BY created_at`).map(toRow);
    },
    async countPending() {
      const row = sql.get(`SELECT count(*) AS n FROM approvals WHERE state = 'pending'`);
      return row ? integer(row, 'n') : 0;
    },
    async settle(id, state, decision) {
      const { changes } = sql.run(
        `UPDATE approvals SET state = ?, decision = ? WHERE id = ? AND state = 'pending'`,
        state,
        decision ? JSON.stringify(decision) : null,
        id,
      );
      return changes > 0;
    },
    async setCard(id, outboxId) {
      sql.run('UPDATE approvals SET card_id = ? WHERE id = ?', outboxId, id);
    },
    async prune(before) {
      sql.run(`DELETE FROM approvals WHERE state <> 'pending' AND created_at < ?`, before);
    },
  };
}

function toRow(row: Row): ApprovalRow {
  return {
    ...json<Request>(row, 'request'),
    id: text(row, 'id'),
    sessionKey: text(row, 'session_key'),
    sessionId: text(row, 'session_id'),
    callId: text(row, 'call_id'),
    state: oneOf(text(row, 'state'), ['pending', 'decided', 'expired', 'superseded']),
    createdAt: integer(row, 'created_at'),
    expiresAt: integer(row, 'expires_at'),
    decision: row['decision'] === null ? null : json<ApprovalDecision>(row, 'decision'),
    cardId: integerOrNull(row, 'card_id'),
  };
}
