import { Refusal, refusals } from './route.ts';
import type { World } from './world.ts';

export interface Interaction {
  id: string;
  token: string;
  userId: string;
  channelId: string;
  /** Message that bears the pressed component. */
  messageId: string | undefined;
  kind: 'command' | 'component' | 'modal';
  createdAt: number;
  /** How long the first answer took, in milliseconds; absent while there is none. */
  answeredAfterMs?: number;
  answer?: { type: number; data: Record<string, unknown> };
}

export interface Interactions {
  all: Interaction[];
  open(fields: Pick<Interaction, 'userId' | 'channelId' | 'kind' | 'messageId'>): Interaction;
  /** Refuses what Discord refuses: an unknown one, one past three seconds, a second answer. */
  answer(id: string, token: string, answer: { type: number; data: Record<string, unknown> }): Interaction;
  /** For the webhook routes, which work for 15 minutes after an answer. */
  byToken(token: string): Interaction;
}

const deadlineMs = 3000;
const tokenLifeMs = 15 * 60_000;

export function createInteractions(world: World): Interactions {
  const all: Interaction[] = [];
  return {
    all,
    open(fields) {
      const interaction = {
        id: world.nextId(),
        token: `aW50${crypto.randomUUID()}`,
        createdAt: Date.now(),
        ...fields,
      };
      all.push(interaction);
      return interaction;
    },
    answer(id, token, answer) {
      const interaction = all.find((candidate) => candidate.id === id && candidate.token === token);
      if (interaction === undefined) throw refusals.unknownInteraction();
      if (interaction.answer !== undefined) {
        throw new Refusal(400, 40060, 'Interaction has already been acknowledged.');
      }
      const tookMs = Date.now() - interaction.createdAt;
      if (tookMs > deadlineMs) throw refusals.unknownInteraction();
      interaction.answeredAfterMs = tookMs;
      interaction.answer = answer;
      return interaction;
    },
    byToken(token) {
      const interaction = all.find((candidate) => candidate.token === token);
      if (interaction?.answer === undefined || Date.now() - interaction.createdAt > tokenLifeMs) {
        throw new Refusal(404, 10015, 'Unknown Webhook');
      }
      return interaction;
    },
  };
}
