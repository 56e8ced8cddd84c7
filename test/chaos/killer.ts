import type { GatewayProcess } from '../e2e/support/gateway-process.ts';
import type { Kill } from './plan.ts';

export interface Killed {
  /** Epoch milliseconds of each kill. */
  at: number[];
  /** How long each start took that was let be (ms). */
  startsMs: number[];
}

/** Kills the gateway at the planned moments and starts it again at once; ends with it running and ready. */
export async function killRepeatedly(gateway: GatewayProcess, kills: readonly Kill[]): Promise<Killed> {
  const killed: Killed = { at: [], startsMs: [] };
  let startedAt = performance.now();
  let ready: Promise<boolean> = Promise.resolve(true);

  const restart = () => {
    startedAt = performance.now();
    // A kill during the start fails it, as it should.
    ready = gateway.restart().then(
      () => true,
      () => false,
    );
  };
  for (const { afterMs, duringStart } of kills) {
    if (!duringStart && (await ready)) killed.startsMs.push(performance.now() - startedAt);
    await new Promise((resolve) => setTimeout(resolve, afterMs));
    await gateway.kill();
    killed.at.push(Date.now());
    restart();
  }
  if (!(await ready)) throw new Error(`the gateway did not start after the last kill:\n${gateway.log()}`);
  return killed;
}
