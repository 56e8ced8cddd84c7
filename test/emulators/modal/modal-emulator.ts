import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CallContext, ServerError, Status } from 'nice-grpc';
import type { Faults } from '../emulator.ts';
import { createCommandRouter } from './command-router.ts';
import { createControlPlane } from './control-plane.ts';
import { modalDefinitions } from './definitions.ts';
import { startStrictGrpc } from './strict-grpc.ts';
import { createModalWorld, type EmulatedSandbox } from './world.ts';

export const modalTokenId = 'ak-emulated';
export const modalTokenSecret = 'as-emulated-secret';
/** Known, but of a member who may not use sandboxes. */
export const powerlessModalSecret = 'as-powerless-secret';

/** Modal's control plane and command router on one port of the loopback; commands really run, in private folders. */
export interface ModalEmulator {
  url: string;
  violations: string[];
  calls: string[];
  faults: Faults;
  sandboxes: ReadonlyMap<string, EmulatedSandbox>;
  /** Ids of the images that there are, snapshots among them. */
  images: ReadonlyMap<string, unknown>;
  /** Ends a sandbox as Modal does when its time is over. */
  endSandbox(id: string): Promise<void>;
  removeImage(id: string): void;
  removeSandboxes(): Promise<void>;
  stop(): Promise<void>;
}

export async function startModalEmulator(): Promise<ModalEmulator> {
  const folder = await mkdtemp(join(tmpdir(), 'modal-emulator-'));
  const world = createModalWorld(folder);
  const { ModalClientDefinition, TaskCommandRouterDefinition } = await modalDefinitions();
  const server = await startStrictGrpc((port) => [
    {
      definition: ModalClientDefinition,
      methods: createControlPlane(world, () => `https://127.0.0.1:${port()}`),
      authorize: (context, method) => authorizeClient(context, method, world.authToken),
    },
    {
      definition: TaskCommandRouterDefinition,
      methods: createCommandRouter(world),
      authorize(context) {
        if (context.metadata.get('authorization') !== `Bearer ${world.routerToken}`) {
          throw new ServerError(Status.UNAUTHENTICATED, 'no token of this task');
        }
      },
    },
  ]);
  return {
    url: `http://127.0.0.1:${server.port}`,
    violations: server.violations,
    calls: server.calls,
    faults: server.faults,
    sandboxes: world.sandboxes,
    images: world.images,
    endSandbox: (id) => world.end(id, 'timed out'),
    removeImage: (id) => void world.images.delete(id),
    removeSandboxes: world.clear,
    async stop() {
      await server.stop();
      await world.clear();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Each call has the pair; each but the one that fetches it has the short-lived token too. */
function authorizeClient({ metadata }: CallContext, method: string, authToken: string): void {
  const [id, secret] = [metadata.get('x-modal-token-id'), metadata.get('x-modal-token-secret')];
  if (id !== modalTokenId || ![modalTokenSecret, powerlessModalSecret].includes(secret ?? '')) {
    throw new ServerError(Status.UNAUTHENTICATED, `Token ID ${id} with secret ${secret} is not known.`);
  }
  if (method === 'authTokenGet') return;
  if (metadata.get('x-modal-auth-token') !== authToken)
    throw new ServerError(Status.UNAUTHENTICATED, 'no token');
  if (secret === powerlessModalSecret) throw new ServerError(Status.PERMISSION_DENIED, 'not a member');
}
