import type { Environment } from './environment.ts';

/**
 * Background processes of all sessions: what the `process` tool lists, polls and kills. Rows survive a restart of
 * the gateway; a process is known again by its pid together with its start time, so a recycled pid is never hit.
 */
export interface ProcessTable {
  start(environment: Environment, request: StartRequest): Promise<ProcessInfo & { ptyNote?: string }>;
  /** By id or a unique prefix of four or more characters; null when unknown or ambiguous. */
  find(sessionId: string, idOrPrefix: string): ProcessInfo | null;
  list(sessionId: string): readonly ProcessInfo[];
  /** All output kept (the last 200,000 characters), ANSI stripped. */
  output(id: string): string;
  /** Resolves at exit, after `timeoutMs`, or when the signal aborts. */
  wait(id: string, timeoutMs: number, signal: AbortSignal): Promise<'exited' | 'timeout' | 'interrupted'>;
  /** Marks the completion as seen, so that no notice follows. */
  consume(id: string): Promise<void>;
  write(id: string, data: string): Promise<'ok' | 'no_stdin' | 'exited'>;
  closeInput(id: string): Promise<'ok' | 'no_stdin' | 'exited'>;
  /** Survivors are the pids that outlived KILL. */
  kill(id: string): Promise<{ killed: boolean; alreadyExited: boolean; survivors: readonly number[] }>;
  killSession(sessionId: string): Promise<number>;
}

export interface StartRequest {
  sessionId: string;
  command: string;
  cwd?: string;
  pty: boolean;
  notifyOnComplete: boolean;
  watchPatterns: readonly string[];
}

export interface ProcessInfo {
  id: string;
  sessionId: string;
  command: string;
  cwd: string;
  pid: number | null;
  /** Milliseconds since the epoch. */
  startedAt: number;
  status: 'running' | 'exited';
  exitCode: number | null;
  notifyOnComplete: boolean;
  watchPatterns: readonly string[];
  /** Re-adopted after a restart: no output history. */
  detached: boolean;
}

/** A row as the store keeps it. */
export interface ProcessRow extends ProcessInfo {
  backend: string;
  /** Opaque proof of identity beside the pid. */
  startToken: string | null;
  consumed: boolean;
}

/** Where rows live; implemented by the store. */
export interface ProcessStore {
  save(row: ProcessRow): Promise<void>;
  load(): Promise<readonly ProcessRow[]>;
  remove(id: string): Promise<void>;
}

/** A message for the session that owns the process: it ended, or a watched pattern appeared. */
export interface ProcessNotice {
  processId: string;
  sessionId: string;
  kind: 'completed' | 'matched';
  text: string;
}
