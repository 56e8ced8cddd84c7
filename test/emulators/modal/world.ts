import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { createMachine, type Machine } from '../../support/machine.ts';

export interface EmulatedSandbox {
  id: string;
  taskId: string;
  name: string;
  imageId: string;
  tags: Map<string, string>;
  createdAt: number;
  /** What it was made with. */
  definition: Partial<
    Record<'timeoutSecs' | 'idleTimeoutSecs' | 'milliCpu' | 'memoryMb', number | undefined>
  >;
  machine: Machine;
  ended: 'terminated' | 'timed out' | null;
}

type SandboxPlan = Pick<EmulatedSandbox, 'name' | 'imageId' | 'tags' | 'definition'>;

/** What Modal holds for one workspace. */
export interface ModalWorld {
  authToken: string;
  routerToken: string;
  apps: Map<string, string>;
  /** With the folder of a snapshot, or null for what was built from a registry. */
  images: Map<string, { folder: string | null }>;
  sandboxes: Map<string, EmulatedSandbox>;
  create(plan: SandboxPlan): Promise<EmulatedSandbox>;
  end(id: string, how: 'terminated' | 'timed out'): Promise<void>;
  snapshot(sandbox: EmulatedSandbox): Promise<string>;
  clear(): Promise<void>;
}

export function createModalWorld(folder: string): ModalWorld {
  const sandboxes: ModalWorld['sandboxes'] = new Map();
  const images: ModalWorld['images'] = new Map();

  async function end(id: string, how: 'terminated' | 'timed out'): Promise<void> {
    const sandbox = sandboxes.get(id);
    if (sandbox === undefined || sandbox.ended !== null) return;
    sandbox.ended = how;
    await sandbox.machine.remove();
  }

  return {
    authToken: jwt(),
    routerToken: jwt(),
    apps: new Map(),
    images,
    sandboxes,
    end,
    async create(plan) {
      const own = newId('sb');
      const image = images.get(plan.imageId)?.folder ?? undefined;
      const machine = await createMachine(join(folder, own), image);
      const sandbox = {
        ...plan,
        id: own,
        taskId: newId('ta'),
        createdAt: Date.now() / 1_000,
        machine,
        ended: null,
      };
      sandboxes.set(own, sandbox);
      return sandbox;
    },
    async snapshot({ machine }) {
      const own = newId('im');
      const kept = join(folder, own);
      await machine.save(kept);
      images.set(own, { folder: kept });
      return own;
    },
    async clear() {
      for (const id of sandboxes.keys()) await end(id, 'terminated');
      sandboxes.clear();
    },
  };
}

export const newId = (kind: string) => `${kind}-${randomBytes(8).toString('hex')}`;

function jwt(): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  return `${part({ alg: 'none' })}.${part({ exp: Math.floor(Date.now() / 1_000) + 3_600 })}.${newId('sig')}`;
}
