import type { ChatAddress } from '../../platforms/platform.ts';

/** What a chat, topic or thread is to the gateway. `key` is stable; `sessionId` changes with each reset. */
export interface SessionRow {
  key: string;
  sessionId: string;
  /** Where answers go, whatever process produces them. */
  chat: ChatAddress;
  /** Whose session: the last user who spoke, for approvals and memory. */
  userId: string;
  userName: string;
  locale: string;
  /** `running`: a turn is open; `parked`: it waits for a person; `idle`: nothing to do. */
  turn: 'idle' | 'running' | 'parked';
  /** Deaths of the process that its open turn is to blame for. */
  blame: Blame;
  settings: SessionSettings;
  createdAt: number;
  /** Last activity of the user or the agent, for the reset policy. */
  updatedAt: number;
}

/** See src/gateway/turn/blame.ts. */
export interface Blame {
  /** While its tool ran, or what it brought was taken in. */
  atWork: number;
  /** While it waited for the model, since anything came of the turn. */
  waiting: number;
}

export interface SessionSettings {
  busyMode?: 'interrupt' | 'queue' | 'steer';
  yolo?: boolean;
  todos?: readonly unknown[];
  /** Frozen when the session begins: the provider's cache of the prompt must hold in mid conversation. */
  systemPrompt?: string;
  toolsets?: { enabled: readonly string[]; disabled: readonly string[] };
}

export interface SessionUsage {
  turns: number;
  inputTokens: number;
  outputTokens: number;
}

export interface SessionTable {
  get(key: string): Promise<SessionRow | null>;
  bySessionId(sessionId: string): Promise<SessionRow | null>;
  create(row: SessionRow): Promise<void>;
  update(key: string, change: Partial<Omit<SessionRow, 'key' | 'createdAt'>>): Promise<void>;
  /**
   * Takes the session for one turn. The fencing token rises with each lease; null while another owner's lease
   * still runs. The same owner gets it again, at once and with a new token: it could not release it before.
   */
  acquire(key: string, owner: string, now: number, untilMs: number): Promise<number | null>;
  /** False when the lease was lost: the caller must stop at once. */
  holds(key: string, fence: number): Promise<boolean>;
  renew(owner: string, untilMs: number): Promise<void>;
  release(key: string, fence: number): Promise<void>;
  /** Sessions that some process works on, or worked on when it died. */
  leased(): Promise<readonly SessionRow[]>;
  /** Ends every lease, for a process that knows itself alone. */
  releaseAll(): Promise<void>;
  open(): Promise<readonly SessionRow[]>;
  list(limit: number): Promise<readonly SessionRow[]>;
  counts(): Promise<{ idle: number; running: number; parked: number }>;
  /** Ends the transcript and points the key at a new one. */
  rotate(key: string, newSessionId: string, reason: string, now: number): Promise<void>;
  addUsage(key: string, usage: { inputTokens: number; outputTokens: number }): Promise<void>;
  usage(key: string): Promise<SessionUsage>;
}
