import { rm } from 'node:fs/promises';
import { z } from 'zod';
import { type GatewayProcess, startGatewayProcess } from '../e2e/support/gateway-process.ts';
import { type Fakes, type PlatformName, startFakes } from './fakes.ts';
import { makeHome } from './home.ts';

export interface Stage {
  fakes: Fakes;
  gateway: GatewayProcess;
  home: string;
}

/** What `addUser` answers. */
export const personSchema = z.object({ user: z.number(), chat: z.number() });
export type Person = z.infer<typeof personSchema>;

/** What `drive` answers (test/emulators/drive.ts). */
export const drivenSchema = z.object({
  turns: z.array(z.object({ handedOutAt: z.number(), answeredAt: z.number() })),
  wallMs: z.number(),
  lost: z.number(),
  disordered: z.number(),
});

/** Measures a fresh gateway beside fresh fakes, and leaves nothing behind. */
export async function withGateway<Measured>(
  measure: (stage: Stage) => Promise<Measured>,
  platforms?: readonly PlatformName[],
): Promise<Measured> {
  const fakes = await startFakes(platforms);
  const home = await makeHome();
  const gateway = await startGatewayProcess({ home, env: fakes.env });
  try {
    return await measure({ fakes, gateway, home });
  } finally {
    await gateway.dispose();
    fakes.stop();
    await rm(home, { recursive: true, force: true });
  }
}
