import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { silentLog } from '../../../../src/log.ts';
import type { Environment } from '../../../../tools/environments/environment.ts';
import { createLocalEnvironment } from '../../../../tools/environments/local.ts';
import type { ProcessTable } from '../../../../tools/environments/process-table.ts';
import type { ToolContext, ToolResult } from '../../../../tools/tool.ts';

export interface Workbench {
  folder: string;
  /** The gateway's state directory. */
  home: string;
  /** Where relative paths start. */
  work: string;
  /** The home of the user that commands run as. */
  user: string;
  environment: Environment;
  context(changes?: Partial<ToolContext>): ToolContext;
}

let sessions = 0;
const benches: Workbench[] = [];

afterAll(async () => {
  for (const { environment, folder } of benches) {
    await environment.close();
    await rm(folder, { recursive: true });
  }
});

/** A temporary machine for tools, and contexts to call them with; each workbench is a session of its own. */
export async function createWorkbench(changes: Partial<Environment> = {}): Promise<Workbench> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'hermes-tools-')));
  for (const name of ['home', 'work', 'user']) await mkdir(join(folder, name));
  const local = await createLocalEnvironment({
    cwd: join(folder, 'work'),
    home: join(folder, 'user'),
    temporaryRoot: folder,
  });
  const environment = { ...local, ...changes };
  sessions += 1;
  const sessionId = `session-${sessions}`;
  const bench: Workbench = {
    folder,
    home: join(folder, 'home'),
    work: join(folder, 'work'),
    user: join(folder, 'user'),
    environment,
    context: (more = {}) => ({
      taskId: 'task',
      sessionId,
      toolCallId: 'call-1',
      userTask: 'a task',
      enabledTools: [],
      signal: new AbortController().signal,
      log: silentLog,
      home: join(folder, 'home'),
      config: {
        terminal: { timeoutMs: 180_000, maxForegroundTimeoutMs: 600_000 },
        toolOutput: { maxBytes: 50_000, maxLines: 2_000, maxLineLength: 2_000 },
        memory: { enabled: true, userProfileEnabled: true, memoryChars: 2_200, userChars: 1_375 },
        writeSafeRoots: [],
      },
      environment: () => Promise.resolve(environment),
      processes: noProcesses,
      approve: () => Promise.resolve({ approved: true }),
      activity: () => undefined,
      ...more,
    }),
  };
  benches.push(bench);
  return bench;
}

/** The fields of a JSON result. */
export function fields(result: ToolResult): Record<string, unknown> {
  if (typeof result !== 'string') throw new Error('A multimodal result has no fields.');
  return Object.fromEntries(Object.entries(JSON.parse(result)));
}

const absent = () => Promise.reject(new Error('no processes here'));

const noProcesses: ProcessTable = {
  start: absent,
  find: () => null,
  list: () => [],
  output: () => '',
  wait: absent,
  consume: absent,
  write: absent,
  closeInput: absent,
  kill: absent,
  killSession: absent,
};
