import type { ProcessStore } from '../../tools/environments/process-table.ts';
import type { ApprovalTable } from './approvals.ts';
import type { AuditTable } from './audit.ts';
import type { EntryTable } from './entries.ts';
import type { GrantTable } from './grants.ts';
import type { InboxTable } from './inbox.ts';
import type { MemoryTable } from './memory.ts';
import type { OutboxTable } from './outbox.ts';
import type { SessionTable } from './sessions.ts';
import type { TimerTable } from './timers.ts';
import type { ToolRunTable } from './tool-runs.ts';

/** Every table of the gateway's state. Each interface stands in a file of its own beside this one. */
export interface Tables {
  readonly inbox: InboxTable;
  readonly sessions: SessionTable;
  readonly entries: EntryTable;
  readonly toolRuns: ToolRunTable;
  readonly approvals: ApprovalTable;
  readonly grants: GrantTable;
  readonly outbox: OutboxTable;
  readonly timers: TimerTable;
  readonly processes: ProcessStore;
  readonly audit: AuditTable;
  readonly memory: MemoryTable;
}

/** The tables within one transaction. */
export interface Transaction extends Tables {
  /** Runs `task` once what this transaction wrote is on disk; never when it failed. */
  onCommit(task: () => void): void;
}

/**
 * The port to durable state. What `transaction` resolved to is on disk and survives a kill at any moment; what it
 * rejected left no trace. Rejects with `GatewayError` `store_full` or `store_unavailable` when storage fails.
 */
export interface Store {
  /** Committed state only; writing through it fails. */
  readonly read: Tables;
  /**
   * Runs `work` atomically, in the order of the calls. `work` may await nothing but its own `tables`: others'
   * transactions wait for it.
   */
  transaction<T>(work: (tables: Transaction) => Promise<T>): Promise<T>;
  /**
   * Like `transaction`, but before all that waits and without waiting for the disk: it survives a kill of the
   * process at once, and a loss of power with the next transaction. For what must be known the moment it happened,
   * such as that a message was sent, and may be found out again.
   */
  note<T>(work: (tables: Transaction) => Promise<T>): Promise<T>;
  /** Rejects when the store does not answer. */
  check(): Promise<void>;
  close(): Promise<void>;
}
