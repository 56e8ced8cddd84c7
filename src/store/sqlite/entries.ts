import type { Entry, EntryBody, EntryTable } from '../entries.ts';
import { oneOf } from './inbox.ts';
import { integer, json, type Row, type Statements, text } from './rows.ts';

export function createEntryTable(sql: Statements): EntryTable {
  return {
    async append(sessionId, body, at) {
      const { id } = sql.run(
        'INSERT INTO entries (session_id, kind, text, body, at) VALUES (?, ?, ?, ?, ?)',
        sessionId,
        body.kind,
        searchableText(body),
        JSON.stringify(body),
        at,
      );
      return id;
    },
    async list(sessionId) {
      return sql
        .all('SELECT * FROM entries WHERE session_id = ? AND hidden = 0 ORDER BY id', sessionId)
        .map(toEntry);
    },
    async hiddenCallIds(sessionId) {
      const hidden = sql
        .all(`SELECT * FROM entries WHERE session_id = ? AND hidden = 1 AND kind = 'assistant'`, sessionId)
        .map(toEntry);
      return new Set(
        hidden.flatMap((entry) => (entry.kind === 'assistant' ? entry.toolCalls.map((call) => call.id) : [])),
      );
    },
    async hideFrom(sessionId, entryId) {
      sql.run('UPDATE entries SET hidden = 1 WHERE session_id = ? AND id >= ?', sessionId, entryId);
    },
    async search(query, { limit, kinds, userId }) {
      const match = ftsQuery(query);
      if (match === '') return [];
      return sql
        .all(
          `SELECT e.session_id, e.kind, e.at, t.session_key,
             snippet(entries_search, 0, '«', '»', '…', 24) AS snippet,
             (SELECT text FROM entries f WHERE f.session_id = e.session_id AND f.kind = 'user' ORDER BY f.id LIMIT 1) AS title
           FROM entries_search JOIN entries e ON e.id = entries_search.rowid
             JOIN transcripts t ON t.session_id = e.session_id
           WHERE entries_search MATCH ?1 AND (?2 = '' OR instr(?2, e.kind) > 0) AND (?3 = '' OR t.user_id = ?3)
           ORDER BY rank LIMIT ?4`,
          match,
          kinds?.join(',') ?? '',
          userId ?? '',
          limit,
        )
        .map((row) => ({
          sessionId: text(row, 'session_id'),
          sessionKey: text(row, 'session_key'),
          kind: kindOf(row),
          at: integer(row, 'at'),
          snippet: text(row, 'snippet'),
          title: (typeof row['title'] === 'string' ? row['title'] : '').slice(0, 80),
        }));
    },
  };
}

/** Each word as a quoted prefix: nothing that a person types is read as FTS5 syntax. */
function ftsQuery(query: string): string {
  const words = query.match(/[\p{L}\p{N}_]+/gu) ?? [];
  return words.map((word) => `"${word}"*`).join(' ');
}

function searchableText(body: EntryBody): string {
  return body.kind === 'tool' ? body.content.slice(0, 20_000) : body.text;
}

function kindOf(row: Row): Entry['kind'] {
  return oneOf(text(row, 'kind'), ['user', 'assistant', 'tool', 'note']);
}

function toEntry(row: Row): Entry {
  const body = json<EntryBody>(row, 'body');
  return { ...body, id: integer(row, 'id'), sessionId: text(row, 'session_id'), at: integer(row, 'at') };
}
