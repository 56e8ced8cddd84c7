import { z } from 'zod';
import type { PlatformName } from '../fakes.ts';
import { type Figures, quantile } from '../figures.ts';
import { drivenSchema, withGateway } from '../stage.ts';

const turns = 500;
const warmUp = 30;

/**
 * The gateway's own share of a turn: from the update handed out to the answer's request on the wire, less the time
 * the model's server held its request. One turn after another, in one chat; each platform with a gateway of its own.
 */
export async function measureTurn(): Promise<Figures> {
  const telegram = await sharesOn('telegram');
  const discord = await sharesOn('discord');
  const slack = await sharesOn('slack');
  return {
    'turn.share.p50': telegram.p50,
    'turn.share.p99': telegram.p99,
    'turn.discord.p50': discord.p50,
    'turn.slack.p50': slack.p50,
    'turn.lost': telegram.lost + discord.lost + slack.lost,
  };
}

async function sharesOn(platform: PlatformName) {
  return withGateway(
    async ({ fakes }) => {
      await fakes.play(platform, { do: 'drive', people: 1, messages: warmUp }, z.unknown());
      await fakes.held();
      const driven = await fakes.play(platform, { do: 'drive', people: 1, messages: turns }, drivenSchema);
      const held = await fakes.held();
      if (held.length !== driven.turns.length)
        throw new Error(`${driven.turns.length} turns asked the model ${held.length} times`);
      const shares = driven.turns.map(
        ({ handedOutAt, answeredAt }, index) => answeredAt - handedOutAt - (held[index] ?? 0),
      );
      return { p50: quantile(shares, 0.5), p99: quantile(shares, 0.99), lost: driven.lost };
    },
    [platform],
  );
}
