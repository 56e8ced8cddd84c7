import type { z } from 'zod';
import { errorMessage, GatewayError } from '../../src/errors.ts';
import type { Log } from '../../src/log.ts';
import type { PlatformSink } from '../platform.ts';
import type { createInbound } from './inbound.ts';
import type { createInteractions } from './interactions.ts';
import type { Lanes } from './lanes.ts';
import type { Marks } from './marks.ts';
import { interactionShape, messageShape, type WireMessage } from './wire.ts';

export interface EventDeps {
  inbound: ReturnType<typeof createInbound>;
  interactions: ReturnType<typeof createInteractions>;
  lanes: Lanes;
  marks: Marks;
  sink: PlatformSink;
  log: Log;
}

/** Dispatches of the gateway, checked and led to where they belong. */
export function createEvents({ inbound, interactions, lanes, marks, sink, log }: EventDeps) {
  function read<Shape extends z.ZodType>(
    shape: Shape,
    data: unknown,
    what: string,
  ): z.infer<Shape> | undefined {
    const parsed = shape.safeParse(data);
    if (parsed.success) return parsed.data;
    log.warn(
      { what, issues: parsed.error.issues.slice(0, 3) },
      'Discord sent something unexpected; it is ignored',
    );
    return undefined;
  }

  /** A message of which Discord itself will not say more is dropped; what could not be stored is thrown. */
  async function handleMessage(message: WireMessage): Promise<void> {
    try {
      const stored = await inbound.onMessage(message, sink);
      const channel = { id: message.channel_id, direct: message.guild_id === undefined };
      if (stored) marks.note(channel, message.id);
    } catch (error) {
      dropOrThrow(error);
    }
  }

  function dropOrThrow(error: unknown): void {
    const hopeless =
      error instanceof GatewayError && (error.code === 'chat_gone' || error.code === 'platform_refused');
    if (!hopeless) throw error;
    log.info({ reason: errorMessage(error) }, 'a Discord message is in a channel that the bot may not read');
  }

  return {
    handleMessage,
    onMessageCreate(data: unknown): void {
      const message = read(messageShape, data, 'message');
      if (message !== undefined) lanes.add(message.channel_id, () => handleMessage(message));
    },
    onMessageUpdate(data: unknown): void {
      const message = read(messageShape, data, 'edited message');
      if (message === undefined) return;
      lanes.add(message.channel_id, () => inbound.onEdit(message, sink).catch(dropOrThrow));
    },
    onInteraction(data: unknown): void {
      const interaction = read(interactionShape, data, 'interaction');
      if (interaction !== undefined) void interactions.onInteraction(interaction, sink);
    },
  };
}
