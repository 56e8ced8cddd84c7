import { z } from 'zod';
import { type Figures, quantile } from '../figures.ts';
import { drivenSchema, withGateway } from '../stage.ts';

const turns = 500;
const warmUp = 30;

/**
 * The gateway's own share of a turn: from the update handed out to the answer's request on the wire, less the time
 * the model's server held its request. One turn after another, in one chat.
 */
export function measureTurn(): Promise<Figures> {
  return withGateway(async ({ fakes }) => {
    await fakes.telegram({ do: 'drive', people: 1, messages: warmUp }, z.unknown());
    await fakes.held();
    const driven = await fakes.telegram({ do: 'drive', people: 1, messages: turns }, drivenSchema);
    const held = await fakes.held();
    if (held.length !== driven.turns.length)
      throw new Error(`${driven.turns.length} turns asked the model ${held.length} times`);
    const shares = driven.turns.map(
      ({ handedOutAt, answeredAt }, index) => answeredAt - handedOutAt - (held[index] ?? 0),
    );
    return {
      'turn.share.p50': quantile(shares, 0.5),
      'turn.share.p99': quantile(shares, 0.99),
      'turn.lost': driven.lost,
    };
  });
}
