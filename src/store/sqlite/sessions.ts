import type { ChatAddress } from '../../../platforms/platform.ts';
import type { SessionRow, SessionSettings, SessionTable } from '../sessions.ts';
import { oneOf } from './inbox.ts';
import { integer, json, type Row, type Statements, text } from './rows.ts';

export function createSessionTable(sql: Statements): SessionTable {
  const get = (key: string): SessionRow | null => {
    const row = sql.get('SELECT * FROM sessions WHERE key = ?', key);
    return row ? toRow(row) : null;
  };
  const startTranscript = (row: Pick<SessionRow, 'sessionId' | 'key' | 'userId'>, at: number) =>
    sql.run(
      'INSERT INTO transcripts (session_id, session_key, user_id, started_at) VALUES (?, ?, ?, ?)',
      row.sessionId,
      row.key,
      row.userId,
      at,
    );
  const write = (row: SessionRow) =>
    sql.run(
      `UPDATE sessions SET session_id = ?, chat = ?, user_id = ?, user_name = ?, locale = ?, turn = ?, deaths_at_work = ?,
         deaths_waiting = ?, settings = ?, updated_at = ? WHERE key = ?`,
      row.sessionId,
      JSON.stringify(row.chat),
      row.userId,
      row.userName,
      row.locale,
      row.turn,
      row.blame.atWork,
      row.blame.waiting,
      JSON.stringify(row.settings),
      row.updatedAt,
      row.key,
    );

  return {
    async get(key) {
      return get(key);
    },
    async bySessionId(sessionId) {
      const row = sql.get('SELECT * FROM sessions WHERE session_id = ?', sessionId);
      return row ? toRow(row) : null;
    },
    async create(row) {
      sql.run(
        `INSERT INTO sessions (key, session_id, chat, user_id, user_name, locale, turn, deaths_at_work, deaths_waiting, settings, created_at, updated_at)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        row.key,
        row.sessionId,
        JSON.stringify(row.chat),
        row.userId,
        row.userName,
        row.locale,
        row.turn,
        row.blame.atWork,
        row.blame.waiting,
        JSON.stringify(row.settings),
        row.createdAt,
        row.updatedAt,
      );
      startTranscript(row, row.createdAt);
    },
    async update(key, change) {
      const row = get(key);
      if (row) write({ ...row, ...change });
    },
    async acquire(key, owner, now, untilMs) {
      const row = sql.get(
        `UPDATE sessions SET fence = fence + 1, lease_owner = ?, lease_until = ?
         WHERE key = ? AND (lease_owner IS NULL OR lease_owner = ? OR lease_until < ?) RETURNING fence`,
        owner,
        untilMs,
        key,
        owner,
        now,
      );
      return row ? integer(row, 'fence') : null;
    },
    async holds(key, fence) {
      const row = sql.get('SELECT fence, lease_owner FROM sessions WHERE key = ?', key);
      return row !== undefined && integer(row, 'fence') === fence && row['lease_owner'] !== null;
    },
    async renew(owner, untilMs) {
      sql.run('UPDATE sessions SET lease_until = ? WHERE lease_owner = ?', untilMs, owner);
    },
    async release(key, fence) {
      sql.run(
        'UPDATE sessions SET lease_owner = NULL, lease_until = 0 WHERE key = ? AND fence = ?',
        key,
        fence,
      );
    },
    async leased() {
      return sql
        .all('SELECT * FROM sessions WHERE lease_owner IS NOT NULL ORDER BY updated_at, key')
        .map(toRow);
    },
    async releaseAll() {
      sql.run('UPDATE sessions SET lease_owner = NULL, lease_until = 0 WHERE lease_owner IS NOT NULL');
    },
    async open() {
      return sql.all(`SELECT * FROM sessions WHERE turn <> 'idle'`).map(toRow);
    },
    async list(limit) {
      return sql.all('SELECT * FROM sessions ORDER BY updated_at DESC LIMIT ?', limit).map(toRow);
    },
    async counts() {
      const counts = { idle: 0, running: 0, parked: 0 };
      for (const row of sql.all('SELECT turn, count(*) AS n FROM sessions GROUP BY turn')) {
        counts[oneOf(text(row, 'turn'), ['idle', 'running', 'parked'])] = integer(row, 'n');
      }
      return counts;
    },
    async rotate(key, newSessionId, reason, now) {
      const row = get(key);
      if (!row) return;
      sql.run(
        'UPDATE transcripts SET ended_at = ?, end_reason = ? WHERE session_id = ?',
        now,
        reason,
        row.sessionId,
      );
      const { busyMode } = row.settings;
      const settings = busyMode ? { busyMode } : {};
      const next: SessionRow = {
        ...row,
        sessionId: newSessionId,
        turn: 'idle',
        blame: { atWork: 0, waiting: 0 },
        settings,
        updatedAt: now,
      };
      write(next);
      startTranscript(next, now);
    },
    async addUsage(key, usage) {
      sql.run(
        'UPDATE sessions SET turns = turns + 1, input_tokens = input_tokens + ?, output_tokens = output_tokens + ? WHERE key = ?',
        usage.inputTokens,
        usage.outputTokens,
        key,
      );
    },
    async usage(key) {
      const row = sql.get('SELECT turns, input_tokens, output_tokens FROM sessions WHERE key = ?', key);
      if (!row) return { turns: 0, inputTokens: 0, outputTokens: 0 };
      return {
        turns: integer(row, 'turns'),
        inputTokens: integer(row, 'input_tokens'),
        outputTokens: integer(row, 'output_tokens'),
      };
    },
  };
}

function toRow(row: Row): SessionRow {
  return {
    key: text(row, 'key'),
    sessionId: text(row, 'session_id'),
    chat: json<ChatAddress>(row, 'chat'),
    userId: text(row, 'user_id'),
    userName: text(row, 'user_name'),
    locale: text(row, 'locale'),
    turn: oneOf(text(row, 'turn'), ['idle', 'running', 'parked']),
    blame: { atWork: integer(row, 'deaths_at_work'), waiting: integer(row, 'deaths_waiting') },
    settings: json<SessionSettings>(row, 'settings'),
    createdAt: integer(row, 'created_at'),
    updatedAt: integer(row, 'updated_at'),
  };
}
