/** What a backend must be able to do: start one program in its place. Everything else is built on it. */
export interface Transport {
  /**
   * Starts `argv` as the leader of its own process group, with `HERMES_COMMAND` set to a fresh tag. Rejects with a
   * `GatewayError` (`environment_unavailable`) when the place cannot be reached; then nothing has run.
   */
  start(command: CommandStart): Promise<RunningCommand>;
}

export interface CommandStart {
  argv: readonly string[];
  /** Must exist. Default: wherever the backend starts programs. */
  cwd?: string;
  /** Without it, standard input is empty. */
  stdin?: string | Uint8Array;
  /** Both streams through one pipe, in exact order, told as stdout. */
  merged?: boolean;
}

export type StreamName = 'stdout' | 'stderr';

export interface RunningCommand {
  /** Chunks in order of arrival. Called once, before anything arrives. */
  onData(listener: (stream: StreamName, chunk: Uint8Array) => void): void;
  /** The program's exit code, 128 + n after a signal. Rejects when the connection to it is lost. */
  exited: Promise<number>;
  /** Every holder of the output has closed it: nothing more will come. Never rejects. */
  ended: Promise<void>;
  /** Ends the program and all that it started; resolves with the pids that still live. */
  kill(): Promise<number[]>;
  /** Stops reading and frees what is held. */
  release(): void;
}
