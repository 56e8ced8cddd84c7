import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A disk of its own that can be filled: a small tmpfs. */
export interface SmallDisk {
  folder: string;
  /** Leaves no block free. */
  fill(): void;
  free(): void;
  makeReadOnly(): void;
  dispose(): void;
}

/** Why no disk can be mounted here, or null. */
export function whyNoSmallDisk(): string | null {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'mounting a tmpfs needs root on Linux';
  try {
    mountSmallDisk(1).dispose();
    return null;
  } catch {
    return 'this machine lets nobody mount a tmpfs';
  }
}

export function mountSmallDisk(megabytes: number): SmallDisk {
  const folder = mkdtempSync(join(tmpdir(), 'hermes-disk-'));
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=0700`, 'tmpfs', folder]);
  const ballast = join(folder, 'ballast');
  return {
    folder,
    fill() {
      const page = Buffer.alloc(statfsSync(folder).bsize);
      // Page by page until it refuses: the gateway writes meanwhile.
      for (;;) {
        try {
          appendFileSync(ballast, page);
        } catch (error) {
          if (error instanceof Error && 'code' in error && error.code === 'ENOSPC') return;
          throw error;
        }
      }
    },
    free: () => rmSync(ballast, { force: true }),
    makeReadOnly: () => void execFileSync('mount', ['-o', 'remount,ro', folder]),
    dispose() {
      execFileSync('umount', ['-l', folder]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
