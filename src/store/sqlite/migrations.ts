/**
 * The schema as a list of steps, each run once and never changed after a release: a database of any earlier
 * version is brought forward by the steps that it lacks. `PRAGMA user_version` counts them.
 */
export const migrations: readonly string[] = [
  `
  CREATE TABLE inbox (
    id INTEGER PRIMARY KEY,
    platform TEXT NOT NULL,
    event_id TEXT NOT NULL,
    session_key TEXT NOT NULL,
    message_id TEXT NOT NULL,
    event TEXT NOT NULL,
    state TEXT NOT NULL,
    role TEXT NOT NULL,
    group_key TEXT NOT NULL,
    ready_at INTEGER NOT NULL,
    received_at INTEGER NOT NULL,
    UNIQUE (platform, event_id)
  );
  CREATE INDEX inbox_new ON inbox (session_key, id) WHERE state = 'new';
  CREATE INDEX inbox_taken ON inbox (session_key, id) WHERE state = 'taken';
  CREATE INDEX inbox_age ON inbox (received_at);

  CREATE TABLE sessions (
    key TEXT PRIMARY KEY,
    session_id TEXT NOT NULL,
    chat TEXT NOT NULL,
    user_id TEXT NOT NULL,
    user_name TEXT NOT NULL,
    locale TEXT NOT NULL,
    turn TEXT NOT NULL,
    resumes INTEGER NOT NULL,
    settings TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    fence INTEGER NOT NULL DEFAULT 0,
    lease_owner TEXT,
    lease_until INTEGER NOT NULL DEFAULT 0,
    turns INTEGER NOT NULL DEFAULT 0,
    input_tokens INTEGER NOT NULL DEFAULT 0,
    output_tokens INTEGER NOT NULL DEFAULT 0
  ) WITHOUT ROWID;
  CREATE INDEX sessions_open ON sessions (turn) WHERE turn <> 'idle';
  CREATE INDEX sessions_id ON sessions (session_id);

  CREATE TABLE transcripts (
    session_id TEXT PRIMARY KEY,
    session_key TEXT NOT NULL,
    user_id TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    ended_at INTEGER,
    end_reason TEXT
  ) WITHOUT ROWID;

  CREATE TABLE entries (
    id INTEGER PRIMARY KEY,
    session_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    text TEXT NOT NULL,
    body TEXT NOT NULL,
    at INTEGER NOT NULL,
    hidden INTEGER NOT NULL DEFAULT 0
  );
  CREATE INDEX entries_session ON entries (session_id, id);
  CREATE VIRTUAL TABLE entries_search USING fts5 (text, content='entries', content_rowid='id');
  CREATE TRIGGER entries_added AFTER INSERT ON entries BEGIN
    INSERT INTO entries_search (rowid, text) VALUES (new.id, new.text);
  END;

  CREATE TABLE tool_runs (
    session_id TEXT NOT NULL,
    call_id TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    finished_at INTEGER,
    PRIMARY KEY (session_id, call_id)
  ) WITHOUT ROWID;

  CREATE TABLE approvals (
    id TEXT PRIMARY KEY,
    session_key TEXT NOT NULL,
    session_id TEXT NOT NULL,
    call_id TEXT NOT NULL,
    request TEXT NOT NULL,
    state TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    decision TEXT,
    card_id INTEGER,
    UNIQUE (session_id, call_id)
  ) WITHOUT ROWID;
  CREATE INDEX approvals_pending ON approvals (session_key, created_at) WHERE state = 'pending';

  CREATE TABLE grants (
    session_key TEXT NOT NULL,
    scope TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (session_key, scope)
  ) WITHOUT ROWID;

  CREATE TABLE outbox (
    id INTEGER PRIMARY KEY,
    platform TEXT NOT NULL,
    chat TEXT NOT NULL,
    chat_key TEXT NOT NULL,
    session_key TEXT NOT NULL,
    op TEXT NOT NULL,
    purpose TEXT NOT NULL,
    key TEXT NOT NULL UNIQUE,
    state TEXT NOT NULL,
    message_id TEXT,
    attempts INTEGER NOT NULL DEFAULT 0,
    last_error TEXT,
    created_at INTEGER NOT NULL
  );
  CREATE INDEX outbox_waiting ON outbox (id) WHERE state = 'new';
  CREATE INDEX outbox_streams ON outbox (session_key) WHERE purpose = 'stream';
  CREATE INDEX outbox_age ON outbox (created_at);

  CREATE TABLE timers (
    id TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    ref TEXT NOT NULL,
    due_at INTEGER NOT NULL
  ) WITHOUT ROWID;
  CREATE INDEX timers_due ON timers (due_at);

  CREATE TABLE processes (id TEXT PRIMARY KEY, body TEXT NOT NULL) WITHOUT ROWID;

  CREATE TABLE audit (
    seq INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    event TEXT NOT NULL,
    session_key TEXT NOT NULL,
    actor TEXT NOT NULL,
    detail TEXT NOT NULL,
    prev_hash TEXT NOT NULL,
    hash TEXT NOT NULL
  );

  CREATE TABLE memory (
    owner TEXT NOT NULL,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (owner, key)
  ) WITHOUT ROWID;
  `,
  `
  ALTER TABLE outbox ADD COLUMN sent_at INTEGER;
  `,
  // A death at work counted four times as much as one while the model was waited for.
  `
  ALTER TABLE sessions RENAME COLUMN resumes TO deaths_at_work;
  ALTER TABLE sessions ADD COLUMN deaths_waiting INTEGER NOT NULL DEFAULT 0;
  UPDATE sessions SET deaths_at_work = deaths_at_work / 4;
  `,
];
