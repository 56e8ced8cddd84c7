import { rm } from 'node:fs/promises';
import { z } from 'zod';
import { type GatewayProcess, startGatewayProcess } from '../e2e/support/gateway-process.ts';
import { type Fakes, startFakes } from './fakes.ts';
import type { Figures } from './figures.ts';
import { makeHome } from './home.ts';

export interface Stage {
  fakes: Fakes;
  gateway: GatewayProcess;
  home: string;
}

/** What `addUser` answers. */
export const personSchema = z.object({ user: z.number(), chat: z.number() });
export type Person = z.infer<typeof personSchema>;

/** What `drive` answers (test/emulators/telegram/drive.ts). */
export const drivenSchema = z.object({
  turns: z.array(z.object({ handedOutAt: z.number(), answeredAt: z.number() })),
  wallMs: z.number(),
  lost: z.number(),
  disordered: z.number(),
});

/** Measures a fresh gateway beside fresh fakes, and leaves nothing behind. */
export async function withGateway(measure: (stage: Stage) => Promise<Figures>): Promise<Figures> {
  const fakes = await startFakes();
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
