import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Store, Tables } from '../store.ts';
import { createApprovalTable } from './approvals.ts';
import { createEntryTable } from './entries.ts';
import { createGroupCommit } from './group-commit.ts';
import { createInboxTable } from './inbox.ts';
import { openReader, openWriter, storeError } from './open.ts';
import { createOutboxTable } from './outbox.ts';
import { createStatements, type Statements } from './rows.ts';
import { createSessionTable } from './sessions.ts';
import {
  createAuditTable,
  createGrantTable,
  createMemoryTable,
  createProcessStore,
  createTimerTable,
  createToolRunTable,
} from './small-tables.ts';

/**
 * The embedded store: one SQLite file in WAL mode. One connection writes, with group commit; another reads, so that
 * nobody ever acts on state that is not on disk yet.
 */
export function openSqliteStore(path: string): Store {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const writer = openWriter(path);
  const reader = openReader(path);
  const commits = createGroupCommit(writer, path);
  const tables = createTables(createStatements(writer));
  let closed = false;
  return {
    read: createTables(createStatements(reader)),
    transaction: (work) => commits.run((onCommit) => work({ ...tables, onCommit })),
    note: (work) => commits.runNow((onCommit) => work({ ...tables, onCommit })),
    async check() {
      try {
        reader.prepare('PRAGMA user_version').get();
      } catch (error) {
        throw storeError(error, path);
      }
      // What could not be written is tried again with something small, so that a disk with space again is seen.
      if (commits.failure() !== null)
        await commits.run(() => tables.memory.set('store', 'lastCheck', Date.now()));
    },
    async close() {
      if (closed) return;
      closed = true;
      await commits.idle();
      reader.close();
      writer.close();
    },
  };
}

function createTables(sql: Statements): Tables {
  return {
    inbox: createInboxTable(sql),
    sessions: createSessionTable(sql),
    entries: createEntryTable(sql),
    toolRuns: createToolRunTable(sql),
    approvals: createApprovalTable(sql),
    grants: createGrantTable(sql),
    outbox: createOutboxTable(sql),
    timers: createTimerTable(sql),
    processes: createProcessStore(sql),
    audit: createAuditTable(sql),
    memory: createMemoryTable(sql),
  };
}
