import { posix } from 'node:path';

/**
 * Where each session's state lives and where it is. A command reads one file and writes another; the session moves
 * to the written file only when the command's marker says that it is complete. So a killed command changes nothing,
 * concurrent commands never read half a file, and no file has to be renamed.
 */
export interface SessionStates {
  cwd(sessionId: string): string;
  begin(sessionId: string): StateLease;
  /** The source of a session's state, for commands that don't change it. */
  source(sessionId: string): string;
  /** Drops the session; its files, to be removed. */
  forget(sessionId: string): string[];
  /** The place is new: every session starts again from the base. */
  reset(): void;
}

export interface StateLease {
  source: string;
  target: string;
  cwd: string;
  /** Ends the lease. `saved` moves the session to the target; a `cwd` moves it there. */
  end(result: { saved: boolean; cwd?: string }): void;
}

interface Session {
  prefix: string;
  /** Null: still on the base. */
  current: string | null;
  cwd: string;
  busy: Map<string, number>;
}

export function createSessionStates(folder: string, defaultCwd: string): SessionStates {
  const sessions = new Map<string, Session>();
  const base = posix.join(folder, 'base');
  let made = 0;

  function open(sessionId: string): Session {
    const known = sessions.get(sessionId);
    if (known !== undefined) return known;
    made += 1;
    const session = {
      prefix: posix.join(folder, `s${made}`),
      current: null,
      cwd: defaultCwd,
      busy: new Map(),
    };
    sessions.set(sessionId, session);
    return session;
  }

  return {
    cwd: (sessionId) => sessions.get(sessionId)?.cwd ?? defaultCwd,
    source: (sessionId) => sessions.get(sessionId)?.current ?? base,
    begin(sessionId) {
      const session = open(sessionId);
      const source = session.current ?? base;
      const target = freeFile(session);
      hold(session, source, 1);
      hold(session, target, 1);
      return {
        source,
        target,
        cwd: session.cwd,
        end({ saved, cwd }) {
          hold(session, source, -1);
          hold(session, target, -1);
          if (saved) session.current = target;
          if (cwd !== undefined) session.cwd = cwd;
        },
      };
    },
    forget(sessionId) {
      const session = sessions.get(sessionId);
      sessions.delete(sessionId);
      return session === undefined ? [] : [...session.busy.keys()].filter((path) => path !== base);
    },
    reset() {
      sessions.clear();
    },
  };
}

function hold(session: Session, path: string, change: 1 | -1): void {
  session.busy.set(path, (session.busy.get(path) ?? 0) + change);
}

function freeFile(session: Session): string {
  for (let index = 0; ; index += 1) {
    const path = `${session.prefix}.${index}`;
    if (path !== session.current && (session.busy.get(path) ?? 0) === 0) return path;
  }
}
