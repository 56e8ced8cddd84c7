import { unwatchFile, watchFile } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../clock.ts';
import { errorMessage, GatewayError } from '../errors.ts';
import { type LoadedConfig, type LoadOptions, loadConfig } from './load.ts';

export interface WatchOptions {
  load: LoadOptions;
  /** What is in force at the start. */
  loaded: LoadedConfig;
  clock: Clock;
  /** The configuration changed and is in force. */
  onChange(loaded: LoadedConfig): void;
  /** The file is broken; what was in force stays so. Called once for each such state of the file. */
  onBroken(error: GatewayError): void;
  /** How often the files' times are looked at. */
  pollMs?: number;
}

export interface ConfigWatch {
  /** The last good configuration. */
  current(): LoadedConfig;
  /** Reads the files now, such as after an edit of our own; resolves once the outcome is in force. */
  reload(): Promise<void>;
  close(): void;
}

/** An editor that doesn't replace the file at once is given this long to finish. */
const settleMs = 100;

/**
 * Applies changes of `config.yaml` and `.env` while the gateway runs. It looks at two files' times once a second:
 * a watch on the folder would wake for every write of the database beside them, one on the file dies with the file
 * that an editor replaces, and neither works on every mounted volume.
 */
export function watchConfig(options: WatchOptions): ConfigWatch {
  const { clock, load } = options;
  const files = [options.loaded.file, join(load.home, '.env')];
  let current = options.loaded;
  let lastFault: string | null = null;
  let reading: Promise<void> = Promise.resolve();
  let cancelSettle: () => void = () => undefined;

  async function read(): Promise<void> {
    try {
      const loaded = await loadConfig(load);
      const changed =
        !isDeepStrictEqual(loaded.config, current.config) || !isDeepStrictEqual(loaded.env, current.env);
      current = loaded;
      if (changed || lastFault !== null) options.onChange(loaded);
      lastFault = null;
    } catch (error) {
      const fault =
        error instanceof GatewayError ? error : new GatewayError('config_invalid', errorMessage(error));
      if (fault.message !== lastFault) options.onBroken(fault);
      lastFault = fault.message;
    }
  }

  /** One reading at a time, in order: the last one always sees the latest content. */
  function reload(): Promise<void> {
    reading = reading.then(read);
    return reading;
  }

  function onTouch(): void {
    cancelSettle();
    cancelSettle = clock.after(settleMs, () => void reload());
  }

  for (const file of files) watchFile(file, { interval: options.pollMs ?? 1000, persistent: false }, onTouch);

  return {
    current: () => current,
    reload,
    close() {
      cancelSettle();
      for (const file of files) unwatchFile(file, onTouch);
    },
  };
}
