import { EventEmitter, once } from 'node:events';
import { constants } from 'node:os';
import { ServerError, Status } from 'nice-grpc';
import { z } from 'zod';
import { type GrpcMethod, type GrpcStream, method, stream } from './strict-grpc.ts';
import type { EmulatedSandbox, ModalWorld } from './world.ts';

const ids = { taskId: z.string(), execId: z.string() };
type StreamName = 'stdout' | 'stderr';

interface Exec {
  taskId: string;
  child: ReturnType<EmulatedSandbox['machine']['start']>;
  output: Record<StreamName, Buffer>;
  /** Streams that nobody holds any more. */
  closed: Set<StreamName>;
  exit: { code?: number; signal?: number } | null;
  inputOffset: number;
  changes: EventEmitter;
}

/** What runs commands in a sandbox. An exec is known by its id, so one that is started twice runs once. */
export function createCommandRouter(world: ModalWorld): Readonly<Record<string, GrpcMethod | GrpcStream>> {
  const execs = new Map<string, Exec>();

  function machineOf(taskId: string): EmulatedSandbox {
    const sandbox = [...world.sandboxes.values()].find((each) => each.taskId === taskId);
    if (sandbox === undefined || sandbox.ended !== null)
      throw new ServerError(Status.NOT_FOUND, 'task is gone');
    return sandbox;
  }

  function known({ taskId, execId }: { taskId: string; execId: string }): Exec {
    const exec = execs.get(execId);
    if (exec === undefined || exec.taskId !== taskId) throw new ServerError(Status.NOT_FOUND, 'no such exec');
    return exec;
  }

  return {
    taskExecStart: method(
      {
        ...ids,
        commandArgs: z.array(z.string()).min(1),
        stdoutConfig: z.literal(1).optional(),
        stderrConfig: z.literal(1).optional(),
        timeoutSecs: z.number().int().optional(),
      },
      async ({ taskId, execId, commandArgs, timeoutSecs }) => {
        const { machine } = machineOf(taskId);
        if (!execs.has(execId)) execs.set(execId, startExec(taskId, machine.start(commandArgs), timeoutSecs));
        return {};
      },
    ),
    taskExecStdioRead: stream(
      { ...ids, offset: z.number().optional(), fileDescriptor: z.literal(1).optional() },
      async function* ({ offset = 0, fileDescriptor, ...which }, { signal }) {
        const exec = known(which);
        const name = fileDescriptor === 1 ? 'stderr' : 'stdout';
        for (let at = offset; ; ) {
          const data = exec.output[name].subarray(at);
          at += data.length;
          if (data.length > 0) yield { data };
          else if (exec.closed.has(name)) return;
          else await once(exec.changes, 'change', { signal });
        }
      },
    ),
    taskExecWait: method(ids, async (which, { signal }) => {
      const exec = known(which);
      while (exec.exit === null) await once(exec.changes, 'change', { signal });
      return exec.exit;
    }),
    taskExecStdinWrite: method(
      {
        ...ids,
        offset: z.number().default(0),
        data: z.instanceof(Uint8Array).default(new Uint8Array()),
        eof: z.boolean().default(false),
      },
      async ({ offset, data, eof, ...which }) => {
        const exec = known(which);
        // What came already is not written again.
        exec.child.stdin.write(data.subarray(Math.max(0, exec.inputOffset - offset)));
        exec.inputOffset = Math.max(exec.inputOffset, offset + data.length);
        if (eof) exec.child.stdin.end();
        return {};
      },
    ),
    taskSnapshotFilesystem: method(
      { taskId: z.string(), snapshotId: z.string(), ttlSeconds: z.number().optional() },
      async ({ taskId }) => ({ imageId: await world.snapshot(machineOf(taskId)) }),
    ),
  };
}

function startExec(taskId: string, child: Exec['child'], timeoutSecs: number | undefined): Exec {
  const exec: Exec = {
    taskId,
    child,
    output: { stdout: Buffer.alloc(0), stderr: Buffer.alloc(0) },
    closed: new Set(),
    exit: null,
    inputOffset: 0,
    changes: new EventEmitter().setMaxListeners(0),
  };
  const changed = () => exec.changes.emit('change');
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].on('data', (chunk: Buffer) => {
      exec.output[name] = Buffer.concat([exec.output[name], chunk]);
      changed();
    });
    child[name].once('close', () => {
      exec.closed.add(name);
      changed();
    });
  }
  // A program that ends without reading all of its input closes the pipe early.
  child.stdin.on('error', () => undefined);
  const timer =
    timeoutSecs === undefined ? undefined : setTimeout(() => child.kill('SIGKILL'), timeoutSecs * 1_000);
  child.once('error', () => {
    exec.exit = { code: 127 };
    changed();
  });
  child.once('exit', (code, signal) => {
    clearTimeout(timer);
    exec.exit = code === null ? { signal: constants.signals[signal ?? 'SIGKILL'] } : { code };
    changed();
  });
  return exec;
}
