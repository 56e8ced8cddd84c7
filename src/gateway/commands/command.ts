import type { Decider, Decisions } from '../../approvals/decide.ts';
import type { Clock } from '../../clock.ts';
import type { Messages } from '../../messages/messages.ts';
import type { InboxRow } from '../../store/inbox.ts';
import type { SessionRow } from '../../store/sessions.ts';
import type { Store, Transaction } from '../../store/store.ts';
import type { Lanes } from '../turn/lanes.ts';

/** A slash command of the chat. Commands never wait behind a turn. */
export interface Command {
  name: string;
  /** False: refused while a turn runs. */
  whileBusy: boolean;
  adminOnly?: boolean;
  run(call: CommandCall): Promise<void>;
}

export interface CommandCall {
  args: string;
  session: SessionRow;
  by: Decider;
  messages: Messages;
  row: Pick<InboxRow, 'id' | 'event'>;
  ports: CommandPorts;
  /** Marks the command as handled; for a transaction that carries out its effect. */
  handled(tables: Transaction): Promise<void>;
  /** Says `markdown`, marks the command as handled and does `also`, all or nothing. */
  reply(markdown: string, also?: (tables: Transaction) => Promise<void>): Promise<void>;
}

/** What commands may reach. */
export interface CommandPorts {
  store: Store;
  clock: Clock;
  lanes: Lanes;
  decisions: Decisions;
  model(): string;
  startedAt: number;
  /** Toolsets and tools that a new session here gets. */
  toolsets(session: SessionRow): Promise<{ names: readonly string[]; tools: number }>;
  processes: { count(sessionId: string): number; kill(sessionId: string): Promise<number> };
  allowlist: { list(): readonly string[]; forget(entry: string): Promise<boolean> };
  setHome(session: SessionRow): Promise<void>;
  /** Ends the process, drained, to be started again by its supervisor; absent where nothing would start it. */
  requestRestart?: (() => void) | undefined;
  /** Frees what the environment keeps for a session that ended. */
  forgetSession(sessionId: string): Promise<void>;
}
