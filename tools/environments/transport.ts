/** What a backend must be able to do: start one program in its place. Everything else is built on it. */
export interface Transport {
  /**
   * Starts `argv` as the leader of its own process group, with `HERMES_COMMAND` set to a fresh tag. Rejects with a
   * `GatewayError` (`environment_unavailable`) when the place cannot be reached; then nothing has run.
   */
  start(command: CommandStart): Promise<RunningCommand>;
}

/** The size that a terminal starts with: wide enough for tables, high enough for a full-screen program. */
export const terminalSize = { columns: 120, rows: 30 } as const;

/** Pagers wait for keys that an agent doesn't know it should press. */
export const terminalEnv = { TERM: 'xterm-256color', PAGER: 'cat', GIT_PAGER: 'cat' } as const;

export interface CommandStart {
  argv: readonly string[];
  /** Must exist. Default: wherever the backend starts programs. */
  cwd?: string;
  /** Without it, standard input is empty. */
  stdin?: string | Uint8Array;
  /** Both streams through one pipe, in exact order, told as stdout. */
  merged?: boolean;
  /** Keeps standard input open for `input`; on a `terminal` both streams are one. Default: neither. */
  interactive?: 'pipes' | 'terminal';
}

export interface CommandInput {
  /** False when the program reads no more. */
  write(data: string): Promise<boolean>;
  end(): Promise<void>;
}

export type StreamName = 'stdout' | 'stderr';

export interface RunningCommand {
  /** Chunks in order of arrival. Called once, before anything arrives. */
  onData(listener: (stream: StreamName, chunk: Uint8Array) => void): void;
  /** The program's exit code, 128 + n after a signal. Rejects when the connection to it is lost. */
  exited: Promise<number>;
  /** Every holder of the output has closed it: nothing more will come. Never rejects. */
  ended: Promise<void>;
  /** Null unless the command was started as interactive. */
  input: CommandInput | null;
  /** Of the terminal; without one nothing happens. */
  resize(columns: number, rows: number): void;
  /** Ends the program and all that it started; resolves with the pids that still live. */
  kill(): Promise<number[]>;
  /** Stops reading and frees what is held. */
  release(): void;
}
