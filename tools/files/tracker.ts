/** What file tools remember of a session, in memory only: a restart forgets it and costs a second read. */

export interface FileVersion {
  modifiedMs: number;
  bytes: number;
}

interface SessionMemory {
  /** The last version that the session read or wrote, by path. */
  seen: Map<string, FileVersion>;
  /** What the session has already been shown: version by path and range. */
  shown: Map<string, FileVersion>;
  lastCall: string;
  repeats: number;
  failedPatches: Map<string, number>;
}

export interface FileTracker {
  /** How often in a row the session has now made this very call: 1 for the first. */
  countRepeat(sessionId: string, call: string): number;
  wasShown(sessionId: string, range: string, version: FileVersion): boolean;
  markShown(sessionId: string, range: string, version: FileVersion): void;
  markRead(sessionId: string, path: string, version: FileVersion): void;
  markWritten(sessionId: string, path: string, version: FileVersion): void;
  /** Why the file may not be what the session thinks it is, or null. */
  staleness(sessionId: string, path: string, version: FileVersion | null): string | null;
  /** How often in a row patches of this file have now failed. */
  countPatchFailure(sessionId: string, path: string): number;
  clearPatchFailures(sessionId: string, path: string): void;
  /** To be called when a session's earlier results left its transcript (compression, reset). */
  forget(sessionId: string): void;
}

const maxSessions = 500;
const maxPaths = 2_000;

export function createFileTracker(): FileTracker {
  const sessions = new Map<string, SessionMemory>();
  const lastWriter = new Map<string, { sessionId: string } & FileVersion>();

  function memoryOf(sessionId: string): SessionMemory {
    const found = sessions.get(sessionId);
    const memory = found ?? {
      seen: new Map(),
      shown: new Map(),
      lastCall: '',
      repeats: 0,
      failedPatches: new Map(),
    };
    sessions.delete(sessionId);
    setBounded(sessions, sessionId, memory, maxSessions);
    return memory;
  }

  return {
    countRepeat(sessionId, call) {
      const memory = memoryOf(sessionId);
      memory.repeats = memory.lastCall === call ? memory.repeats + 1 : 1;
      memory.lastCall = call;
      return memory.repeats;
    },
    wasShown: (sessionId, range, version) => same(memoryOf(sessionId).shown.get(range), version),
    markShown: (sessionId, range, version) => setBounded(memoryOf(sessionId).shown, range, version, maxPaths),
    markRead: (sessionId, path, version) => setBounded(memoryOf(sessionId).seen, path, version, maxPaths),
    markWritten(sessionId, path, version) {
      const memory = memoryOf(sessionId);
      setBounded(memory.seen, path, version, maxPaths);
      setBounded(lastWriter, path, { sessionId, ...version }, maxPaths);
      memory.lastCall = '';
    },
    staleness(sessionId, path, version) {
      const seen = memoryOf(sessionId).seen.get(path);
      if (!seen || !version || same(seen, version)) return null;
      const writer = lastWriter.get(path);
      return writer && writer.sessionId !== sessionId && same(writer, version)
        ? 'Another session of this agent wrote this file after you last read it. Read it again before further edits.'
        : 'This file changed on disk after you last read it. Read it again before further edits.';
    },
    countPatchFailure(sessionId, path) {
      const failed = memoryOf(sessionId).failedPatches;
      const count = (failed.get(path) ?? 0) + 1;
      setBounded(failed, path, count, maxPaths);
      return count;
    },
    clearPatchFailures: (sessionId, path) => void memoryOf(sessionId).failedPatches.delete(path),
    forget: (sessionId) => void sessions.delete(sessionId),
  };
}

const same = (a: FileVersion | undefined, b: FileVersion): boolean =>
  a !== undefined && a.modifiedMs === b.modifiedMs && a.bytes === b.bytes;

function setBounded<Value>(map: Map<string, Value>, key: string, value: Value, max: number): void {
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > max && oldest !== undefined) map.delete(oldest);
}

/** Shared by the file tools of this process. */
export const fileTracker: FileTracker = createFileTracker();
