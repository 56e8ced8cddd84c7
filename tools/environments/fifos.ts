import { execFile } from 'node:child_process';
import { close, constants, open } from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';

const openFile = promisify(open);
const closeFile = promisify(close);

/**
 * Real pipes for child processes. Node gives a child sockets, on which `echo x >/dev/stderr` fails with ENXIO, and
 * cannot hand one pipe to both stdout and stderr, which is the only way to keep their order exactly. Named pipes do
 * both. They are made a batch at a time and used again after every writer has closed them.
 */
export interface Fifos {
  /** Bytes that the child writes to `fd` arrive at `stream`. The caller closes `fd` after the spawn. */
  output(): Promise<{ stream: Socket; fd: number }>;
  /** Bytes written to `stream` are read by the child from `fd`. The caller closes `fd` after the spawn. */
  input(): Promise<{ stream: Socket; fd: number }>;
}

const batch = 16;

export function createFifos(folder: string): Fifos {
  const free: string[] = [];
  let made = 0;
  let making: Promise<void> | null = null;

  async function makeMore(): Promise<void> {
    const paths = Array.from({ length: batch }, (_, index) => join(folder, `pipe${made + index}`));
    made += batch;
    await promisify(execFile)('mkfifo', ['-m', '600', ...paths]);
    free.push(...paths);
  }

  async function take(): Promise<string> {
    for (;;) {
      const path = free.pop();
      if (path !== undefined) return path;
      making ??= makeMore().finally(() => {
        making = null;
      });
      await making;
    }
  }

  return {
    async output() {
      const path = await take();
      const reader = await openFile(path, constants.O_RDONLY | constants.O_NONBLOCK);
      const fd = await openFile(path, constants.O_WRONLY);
      const stream = new Socket({ fd: reader, readable: true, writable: false });
      // At the end every writer is gone. A pipe that was abandoned before may still have one: it is left alone.
      stream.once('end', () => free.push(path));
      return { stream, fd };
    },
    async input() {
      const path = await take();
      // Read and write: lets the two ends be opened in either order without waiting for each other.
      const both = await openFile(path, constants.O_RDWR | constants.O_NONBLOCK);
      const fd = await openFile(path, constants.O_RDONLY);
      const writer = await openFile(path, constants.O_WRONLY | constants.O_NONBLOCK);
      await closeFile(both);
      const stream = new Socket({ fd: writer, readable: false, writable: true });
      return { stream, fd };
    },
  };
}

export { closeFile };
