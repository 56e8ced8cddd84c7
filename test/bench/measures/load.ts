import { z } from 'zod';
import type { Figures } from '../figures.ts';
import { cpuMs, watchRss } from '../process-figures.ts';
import { drivenSchema, withGateway } from '../stage.ts';

const people = 200;
const messages = 10;

/** Many chats at once; each writes its next message when the answer came. The model answers at once. */
export function measureLoad(): Promise<Figures> {
  return withGateway(async ({ fakes, gateway }) => {
    await fakes.telegram({ do: 'drive', people: 10, messages: 5 }, z.unknown());
    const cpuBefore = cpuMs(gateway.pid);
    const rss = watchRss(gateway.pid);
    const driven = await fakes.telegram({ do: 'drive', people, messages }, drivenSchema);
    const answered = driven.turns.length;
    return {
      'load.throughput': (answered * 1_000) / driven.wallMs,
      'load.cpu_per_turn': (cpuMs(gateway.pid) - cpuBefore) / answered,
      'load.rss': rss.stop(),
      'load.lost': driven.lost,
      'load.disordered': driven.disordered,
    };
  });
}
