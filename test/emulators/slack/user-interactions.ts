import { z } from 'zod';
import { buttonElement } from './blocks.ts';
import type { SlackChannel, SlackMessage, SlackView } from './world.ts';

/** The person as interactions show them. */
export interface Actor {
  id: string;
  name: string;
  username: string;
  team_id: string;
}

const actionsBlock = z.object({
  type: z.literal('actions'),
  block_id: z.string().optional(),
  elements: z.array(buttonElement),
});

/** A press of the message's button with this label or action id. docs.slack.dev: block_actions payload */
export function pressPayload(
  button: string,
  message: SlackMessage,
  actor: Actor,
  channel: SlackChannel,
  actionTs: string,
) {
  const pressed = message.blocks
    .flatMap((block) => actionsBlock.safeParse(block).data ?? [])
    .flatMap((row) => row.elements.map((element) => ({ ...element, block_id: row.block_id ?? 'generated' })))
    .find((element) => element.action_id === button || element.text.text.includes(button));
  if (pressed === undefined) throw new Error(`no button ${button} on ${JSON.stringify(message.blocks)}`);
  return {
    type: 'block_actions',
    team: { id: actor.team_id, domain: 'acme' },
    user: actor,
    api_app_id: 'A0EMULATOR',
    container: { type: 'message', message_ts: message.ts, channel_id: channel.id, is_ephemeral: false },
    channel: { id: channel.id, name: channel.name },
    actions: [{ ...pressed, action_ts: actionTs }],
  };
}

const inputBlocks = z.array(
  z.object({
    block_id: z.string().optional(),
    element: z.object({ action_id: z.string() }).optional(),
  }),
);

/** A form sent off with this text in each of its fields. docs.slack.dev: view_submission payload */
export function submissionPayload(form: SlackView, text: string, actor: Actor) {
  const value = { type: 'plain_text_input', value: text === '' ? null : text };
  const values = inputBlocks
    .parse(form.view.blocks)
    .flatMap(({ block_id: block = 'generated', element }) =>
      element === undefined ? [] : [[block, { [element.action_id]: value }]],
    );
  return {
    type: 'view_submission',
    team: { id: actor.team_id, domain: 'acme' },
    user: actor,
    api_app_id: 'A0EMULATOR',
    view: {
      ...form.view,
      id: form.id,
      team_id: actor.team_id,
      state: { values: Object.fromEntries(values) },
    },
    response_urls: [],
  };
}

/** A slash command. docs.slack.dev: slash commands payload */
export function commandPayload(command: string, text: string, actor: Actor, channel: SlackChannel) {
  const channelNames = {
    im: 'directmessage',
    mpim: 'privategroup',
    group: 'privategroup',
    channel: channel.name,
  };
  return {
    team_id: actor.team_id,
    team_domain: 'acme',
    channel_id: channel.id,
    channel_name: channelNames[channel.type],
    user_id: actor.id,
    user_name: actor.name,
    command,
    text,
    api_app_id: 'A0EMULATOR',
  };
}
