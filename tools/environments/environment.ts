/**
 * The port to the place where commands run and files live: this machine, a container, another host. File tools
 * use the same environment as the terminal, so a path means the same thing in every tool.
 */

export type BackendName = 'local' | 'docker' | 'ssh' | 'singularity' | 'modal' | 'daytona' | 'vercel_sandbox';

export interface ExecRequest {
  /** Shell text, run by `bash -c` (or `sh`) in the session's persisted state: its cwd, exports and functions. */
  command: string;
  /** Whose cwd and exports: sessions never mix. */
  sessionId: string;
  /** Overrides the session's cwd for this command. Must exist: a clear error, no silent fallback. */
  cwd?: string;
  stdin?: string;
  timeoutMs: number;
  /** Kills the whole process tree; the result has exit code 130. */
  signal: AbortSignal;
  /** Called at least every 10 s while the command runs. */
  onActivity?: () => void;
  /**
   * `merged`: one pipe for both, so `output` has the exact order and all of it is told as stdout. `apart` (the
   * default): two pipes, in order of arrival.
   */
  streams?: 'apart' | 'merged';
  /** Bytes of each of stdout, stderr and output kept in memory (head 40 %, tail 60 %). Default 200,000. */
  maxBytes?: number;
}

export interface ExecResult {
  stdout: string;
  stderr: string;
  /** Both streams in order of arrival. */
  output: string;
  /** 124 after a timeout, 130 after an interrupt. */
  exitCode: number;
  outcome: 'exited' | 'timed_out' | 'interrupted';
  /** Bytes left out of the middle of `output`. */
  omittedBytes: number;
  /** Where the session is now. */
  cwd: string;
  /** The sandbox had to be made anew: what ran in it before is gone. */
  recreated?: boolean;
}

export interface RunOptions {
  cwd?: string;
  timeoutMs: number;
  signal: AbortSignal;
  stdin?: string;
  maxBytes?: number;
}

export interface FileStat {
  kind: 'file' | 'directory' | 'other';
  bytes: number;
  modifiedMs: number;
  /** Absolute, symbolic links resolved. */
  realPath: string;
}

/** Paths are absolute in the environment. Rejects with Node-style `code` ENOENT, EACCES, EISDIR, ENOTDIR. */
export interface EnvironmentFiles {
  stat(path: string): Promise<FileStat | null>;
  /** At most `maxBytes` from `offset`. */
  read(path: string, options?: { offset?: number; maxBytes?: number }): Promise<Uint8Array>;
  /** Atomic: readers see the old or the new content. Makes parent folders. Keeps the mode of an existing file. */
  write(path: string, data: Uint8Array): Promise<void>;
  list(path: string): Promise<{ name: string; kind: FileStat['kind'] }[]>;
  remove(path: string): Promise<void>;
  rename(from: string, to: string): Promise<void>;
}

export interface BackgroundStart {
  /** Local to the environment; null where it has none. */
  pid: number | null;
  /** With the pid tells a process from a later one with a recycled pid; opaque text. */
  startedAt: string | null;
  /** Resolves with the exit code. Never rejects. */
  exited: Promise<number>;
  /** New output since the last call, ANSI kept. */
  onOutput(listener: (text: string) => void): void;
  /** False where the backend gives no stdin. */
  write(data: string): Promise<boolean>;
  closeInput(): Promise<void>;
  resize(columns: number, rows: number): void;
  /** TERM to the group, a grace, KILL; resolves with the pids that still live. */
  kill(): Promise<number[]>;
}

export interface Environment {
  readonly backend: BackendName;
  /** True when nothing of the host can be reached from inside, so `dangerous` need not ask. */
  readonly isolated: boolean;
  /** Home and starting folder inside the environment. */
  readonly home: string;
  readonly defaultCwd: string;
  readonly files: EnvironmentFiles;
  /** The folder in which the session's next command would run. */
  cwd(sessionId: string): string;
  exec(request: ExecRequest): Promise<ExecResult>;
  /** Runs one program without a shell and outside any session's state: for previews, searches and checks. */
  run(
    argv: readonly string[],
    options: RunOptions,
  ): Promise<{ exitCode: number; stdout: string; stderr: string }>;
  /** Starts a background process in the session's state. */
  spawn(request: {
    command: string;
    sessionId: string;
    cwd?: string;
    pty: boolean;
  }): Promise<BackgroundStart & { ptyNote?: string }>;
  /**
   * Takes up a process that an earlier run of the gateway started here, by its pid and `startedAt`. Null when it is
   * gone, when the pid is another process now, or where nothing outlives the gateway.
   */
  adopt(pid: number, startedAt: string): Promise<BackgroundStart | null>;
  /** Forgets a session's cwd and exports. */
  forget(sessionId: string): Promise<void>;
  /** Frees what the environment holds, leaving nothing behind that should not persist. */
  close(): Promise<void>;
}
