import { z } from 'zod';
import type { Figures } from '../figures.ts';
import { personSchema, type Stage, withGateway } from '../stage.ts';

const idleSessions = 800;
const waitingCards = 200;

/** From spawn to the answer of the turn that a kill cut off, with many sessions and cards in the store. */
export function measureRecovery(): Promise<Figures> {
  return withGateway(async (stage) => {
    const { fakes, gateway } = stage;
    await fakes.telegram({ do: 'drive', people: idleSessions, messages: 1 }, z.unknown());
    await Promise.all(Array.from({ length: waitingCards }, (_, index) => leaveCard(stage, index)));
    const { user, chat } = await fakes.telegram({ do: 'addUser', name: 'Ann' }, personSchema);
    await fakes.telegram({ do: 'says', user, text: 'run sleep 30' }, z.unknown());
    await fakes.telegram({ do: 'waitFor', chat, text: 'sleep 30' }, z.unknown());
    await gateway.kill();
    const answer = fakes.telegram(
      { do: 'waitFor', chat, text: 'Interrupted, outcome unknown', timeoutMs: 20_000 },
      z.unknown(),
    );
    const from = performance.now();
    const restarted = gateway.restart();
    await answer;
    const took = performance.now() - from;
    await restarted;
    return { 'recovery.first_resumed': took };
  });
}

async function leaveCard({ fakes }: Stage, index: number): Promise<void> {
  const { user, chat } = await fakes.telegram({ do: 'addUser', name: `Asker ${index}` }, personSchema);
  await fakes.telegram({ do: 'says', user, text: `run rm -rf ./scratch-${index}` }, z.unknown());
  await fakes.telegram({ do: 'waitFor', chat, text: 'scratch-', timeoutMs: 30_000 }, z.unknown());
}
