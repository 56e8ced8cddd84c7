import { z } from 'zod';
import type { GatewayProcess } from '../../e2e/support/gateway-process.ts';
import type { Fakes } from '../fakes.ts';
import { type Figures, median } from '../figures.ts';
import { rssMb } from '../process-figures.ts';
import { type Person, personSchema, withGateway } from '../stage.ts';

const runs = 9;
const idleForMs = 20_000;

/** Start on a home that was used before, with Telegram and the web page on, and the memory that it rests at. */
export function measureStart(): Promise<Figures> {
  return withGateway(async ({ gateway, fakes }) => {
    const ready: number[] = [];
    const answered: number[] = [];
    const ann = await fakes.telegram({ do: 'addUser', name: 'Ann' }, personSchema);
    for (let run = 0; run < runs; run += 1) {
      ready.push(await restartTaking(gateway));
      answered.push(await firstAnswerTaking(gateway, fakes, ann, run));
    }
    await new Promise((resolve) => setTimeout(resolve, idleForMs));
    return {
      'start.ready': median(ready),
      'start.first_answer': median(answered),
      'idle.rss': rssMb(gateway.pid),
    };
  });
}

/** The same with all three platforms, so with all their libraries. */
export function measureStartAll(): Promise<Figures> {
  return withGateway(
    async ({ gateway }) => {
      const ready: number[] = [];
      for (let run = 0; run < runs; run += 1) ready.push(await restartTaking(gateway));
      await new Promise((resolve) => setTimeout(resolve, idleForMs));
      return { 'start.all': median(ready), 'idle.all_rss': rssMb(gateway.pid) };
    },
    ['telegram', 'discord', 'slack'],
  );
}

async function restartTaking(gateway: GatewayProcess): Promise<number> {
  await gateway.stop();
  const from = performance.now();
  await gateway.restart();
  return performance.now() - from;
}

/** The message waits at Telegram before the process is there. */
async function firstAnswerTaking(
  gateway: GatewayProcess,
  fakes: Fakes,
  { user, chat }: Person,
  run: number,
): Promise<number> {
  await gateway.stop();
  await fakes.telegram({ do: 'says', user, text: `start ${run}` }, z.unknown());
  const answer = fakes.telegram(
    { do: 'waitFor', chat, text: `You said: start ${run}`, timeoutMs: 20_000 },
    z.unknown(),
  );
  const from = performance.now();
  const restarted = gateway.restart();
  await answer;
  const took = performance.now() - from;
  await restarted;
  return took;
}
