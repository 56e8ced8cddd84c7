import { createHash } from 'node:crypto';
import type { ProcessRow, ProcessStore } from '../../../tools/environments/process-table.ts';
import type { DecisionScope } from '../../approvals/verdict.ts';
import type { AuditRow, AuditTable, NewAuditRow } from '../audit.ts';
import type { GrantTable } from '../grants.ts';
import type { MemoryTable } from '../memory.ts';
import type { TimerTable } from '../timers.ts';
import type { ToolRunTable } from '../tool-runs.ts';
import { integer, json, type Row, type Statements, text } from './rows.ts';

export function createToolRunTable(sql: Statements): ToolRunTable {
  return {
    async start(sessionId, callIds, at) {
      for (const callId of callIds) {
        sql.run(
          'INSERT INTO tool_runs (session_id, call_id, started_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
          sessionId,
          callId,
          at,
        );
      }
    },
    async finish(sessionId, callIds, at) {
      for (const callId of callIds) {
        sql.run(
          'UPDATE tool_runs SET finished_at = ? WHERE session_id = ? AND call_id = ?',
          at,
          sessionId,
          callId,
        );
      }
    },
    async unfinished(sessionId, callIds) {
      const found = callIds.filter((callId) =>
        sql.get(
          'SELECT 1 FROM tool_runs WHERE session_id = ? AND call_id = ? AND finished_at IS NULL',
          sessionId,
          callId,
        ),
      );
      return new Set(found);
    },
    async hasOpen(sessionId) {
      const open = 'SELECT 1 FROM tool_runs WHERE session_id = ? AND finished_at IS NULL LIMIT 1';
      return sql.get(open, sessionId) !== undefined;
    },
    async prune(before) {
      sql.run('DELETE FROM tool_runs WHERE started_at < ?', before);
    },
  };
}

export function createGrantTable(sql: Statements): GrantTable {
  return {
    async add(sessionKey, scope, at) {
      sql.run(
        'INSERT INTO grants (session_key, scope, at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
        sessionKey,
        JSON.stringify(scope),
        at,
      );
    },
    async list(sessionKey) {
      return sql
        .all('SELECT scope FROM grants WHERE session_key = ? ORDER BY at', sessionKey)
        .map((row) => json<DecisionScope>(row, 'scope'));
    },
    async clear(sessionKey) {
      sql.run('DELETE FROM grants WHERE session_key = ?', sessionKey);
    },
  };
}

export function createTimerTable(sql: Statements): TimerTable {
  return {
    async set(row) {
      sql.run(
        `INSERT INTO timers (id, kind, ref, due_at) VALUES (?, ?, ?, ?)
         ON CONFLICT (id) DO UPDATE SET due_at = excluded.due_at, ref = excluded.ref`,
        row.id,
        row.kind,
        row.ref,
        row.dueAt,
      );
    },
    async clear(id) {
      sql.run('DELETE FROM timers WHERE id = ?', id);
    },
    async due(now) {
      return sql.all('SELECT * FROM timers WHERE due_at <= ? ORDER BY due_at', now).map((row) => ({
        id: text(row, 'id'),
        kind: 'approval_expiry',
        ref: text(row, 'ref'),
        dueAt: integer(row, 'due_at'),
      }));
    },
    async nextDueAt() {
      const row = sql.get('SELECT due_at FROM timers ORDER BY due_at LIMIT 1');
      return row ? integer(row, 'due_at') : null;
    },
  };
}

export function createProcessStore(sql: Statements): ProcessStore {
  return {
    async save(row) {
      sql.run(
        'INSERT INTO processes (id, body) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET body = excluded.body',
        row.id,
        JSON.stringify(row),
      );
    },
    async load() {
      return sql.all('SELECT body FROM processes').map((row) => json<ProcessRow>(row, 'body'));
    },
    async remove(id) {
      sql.run('DELETE FROM processes WHERE id = ?', id);
    },
  };
}

const genesisHash = '0'.repeat(64);

export function createAuditTable(sql: Statements): AuditTable {
  return {
    async append(row) {
      const last = sql.get('SELECT hash FROM audit ORDER BY seq DESC LIMIT 1');
      const prevHash = last ? text(last, 'hash') : genesisHash;
      sql.run(
        'INSERT INTO audit (at, event, session_key, actor, detail, prev_hash, hash) VALUES (?, ?, ?, ?, ?, ?, ?)',
        row.at,
        row.event,
        row.sessionKey,
        row.actor,
        row.detail,
        prevHash,
        auditHash(prevHash, row),
      );
    },
    async list({ limit, afterSeq = 0 }) {
      return sql
        .all('SELECT * FROM audit WHERE seq > ? ORDER BY seq LIMIT ?', afterSeq, limit)
        .map(toAuditRow);
    },
    async verify() {
      let prevHash = genesisHash;
      const rows = sql.all('SELECT * FROM audit ORDER BY seq').map(toAuditRow);
      for (const [index, row] of rows.entries()) {
        const sound =
          row.seq === index + 1 && row.prevHash === prevHash && row.hash === auditHash(prevHash, row);
        if (!sound) return { rows: rows.length, brokenAt: row.seq };
        prevHash = row.hash;
      }
      return { rows: rows.length, brokenAt: null };
    },
  };
}

function auditHash(prevHash: string, row: NewAuditRow): string {
  const fields = [prevHash, row.at, row.event, row.sessionKey, row.actor, row.detail];
  return createHash('sha256').update(JSON.stringify(fields)).digest('hex');
}

function toAuditRow(row: Row): AuditRow {
  return {
    seq: integer(row, 'seq'),
    at: integer(row, 'at'),
    event: text(row, 'event'),
    sessionKey: text(row, 'session_key'),
    actor: text(row, 'actor'),
    detail: text(row, 'detail'),
    prevHash: text(row, 'prev_hash'),
    hash: text(row, 'hash'),
  };
}

export function createMemoryTable(sql: Statements): MemoryTable {
  return {
    async get(owner, key) {
      const row = sql.get('SELECT value FROM memory WHERE owner = ? AND key = ?', owner, key);
      return row ? json<unknown>(row, 'value') : undefined;
    },
    async set(owner, key, value) {
      sql.run(
        'INSERT INTO memory (owner, key, value) VALUES (?, ?, ?) ON CONFLICT (owner, key) DO UPDATE SET value = excluded.value',
        owner,
        key,
        JSON.stringify(value),
      );
    },
    async delete(owner, key) {
      sql.run('DELETE FROM memory WHERE owner = ? AND key = ?', owner, key);
    },
    async list(owner, prefix) {
      return sql
        .all(
          'SELECT key, value FROM memory WHERE owner = ? AND substr(key, 1, ?) = ? ORDER BY key',
          owner,
          prefix.length,
          prefix,
        )
        .map((row) => ({ key: text(row, 'key'), value: json<unknown>(row, 'value') }));
    },
  };
}
