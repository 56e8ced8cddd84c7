import { z } from 'zod';
import type { Interaction } from '../interactions.ts';
import { checkMessage, messageBody } from '../message-body.ts';
import { param, type Route, type RouteContext, read, refusals } from '../route.ts';
import { messageToWire } from '../wire.ts';
import { findMessage, messageFlags, newMessage } from '../world.ts';
import { changeMessage } from './messages.ts';

const answerTypes = { message: 4, deferred: 5, deferredUpdate: 6, update: 7, modal: 9 } as const;
const callback = z.object({ type: z.number().int(), data: z.looseObject({}).optional() });
const modal = z.looseObject({
  custom_id: z.string().min(1).max(100),
  title: z.string().min(1).max(45),
  components: z
    .array(z.looseObject({ type: z.number() }))
    .min(1)
    .max(5),
});

function show(interaction: Interaction, body: z.infer<typeof messageBody>, { world }: RouteContext): void {
  checkMessage(body, 0, false);
  const content = body.content ?? '';
  const { userId, channelId } = interaction;
  if (((body.flags ?? 0) & messageFlags.ephemeral) !== 0) {
    world.ephemerals.push({ userId, channelId, content, at: Date.now() });
    return;
  }
  world.messages.push(
    newMessage(world, { channelId, authorId: world.bot.id, content, components: body.components ?? [] }),
  );
}

function answer(id: string, token: string, body: unknown, context: RouteContext): void {
  const { type, data = {} } = read(callback, body);
  const { interactions, world } = context;
  const interaction = interactions.answer(id, token, { type, data });
  const message = findMessage(world, interaction.channelId, interaction.messageId ?? '');
  const onComponent = interaction.kind !== 'command' && message !== undefined;
  if (type === answerTypes.message) show(interaction, read(messageBody, data), context);
  else if (type === answerTypes.modal && interaction.kind !== 'modal') read(modal, data);
  else if (type === answerTypes.update && onComponent)
    changeMessage(message, read(messageBody, data), context);
  else if (type === answerTypes.deferredUpdate && onComponent) return;
  else if (type !== answerTypes.deferred)
    throw refusals.invalidForm(`type: ${type} does not answer a ${interaction.kind}`);
}

export const interactionRoutes: readonly Route[] = [
  {
    method: 'POST',
    path: '/interactions/{interaction_id}/{interaction_token}/callback',
    open: true,
    handle(call, context) {
      answer(param(call, 'interaction_id'), param(call, 'interaction_token'), call.body, context);
      return undefined;
    },
  },
  {
    method: 'POST',
    path: '/webhooks/{webhook_id}/{webhook_token}',
    open: true,
    handle(call, context) {
      const interaction = context.interactions.byToken(param(call, 'webhook_token'));
      show(interaction, read(messageBody, call.body), context);
      const { world } = context;
      const echo = newMessage(world, {
        channelId: interaction.channelId,
        authorId: world.bot.id,
        content: '',
      });
      return messageToWire(echo, world, context.view());
    },
  },
];
