import type { App, Receiver, webApi } from '@slack/bolt';
import { z } from 'zod';
import { errorMessage } from '../../src/errors.ts';
import type { Log } from '../../src/log.ts';
import type { PlatformSink } from '../platform.ts';
import { greetAssistantThread } from './assistant.ts';
import type { Commands } from './commands.ts';
import type { Inbound } from './inbound.ts';
import type { People } from './people.ts';
import type { Presses } from './press.ts';
import { eventBody, messageEvent } from './wire.ts';
import type { Workspaces } from './workspaces.ts';

/** One delivery of Slack's, by socket or by request. `ack` must be called at most once. */
type ReceiverEvent = Parameters<App['processEvent']>[0];

export interface DispatchDeps {
  workspaces: Workspaces;
  inbound: Inbound;
  presses: Presses;
  commands: Commands;
  people: People;
  log: Log;
}

export interface Dispatch {
  /** Resolves with what to answer Slack once the delivery is stored; rejects when it must not be acknowledged. */
  process(delivery: Omit<ReceiverEvent, 'ack'>): Promise<unknown>;
}

/** Bolt's code for an event that `authorize` turned down: it is acknowledged, since repeating it would not help. */
const foreignWorkspace = 'slack_bolt_authorization_error';

/** A receiver that receives nothing itself: the socket and the HTTP route hand deliveries to `process`. */
const passive: Receiver = {
  init: () => undefined,
  start: () => Promise.resolve(),
  stop: () => Promise.resolve(),
};

/** Routes deliveries through Bolt to the handlers. Handlers only store. */
export function createDispatch(
  bolt: Pick<typeof import('@slack/bolt'), 'App'>,
  logger: webApi.Logger,
  sink: PlatformSink,
  { workspaces, inbound, presses, commands, people, log }: DispatchDeps,
): Dispatch {
  const app = new bolt.App({
    receiver: passive,
    ignoreSelf: false,
    convoStore: false,
    tokenVerificationEnabled: false,
    logger,
    // Web API calls are made by our own clients; Bolt only needs to know that the workspace is one of ours.
    authorize: ({ teamId, enterpriseId }) => {
      const { botId, botUserId } = workspaces.of(teamId);
      return Promise.resolve({
        botId,
        botUserId,
        ...(teamId === undefined ? {} : { teamId }),
        ...(enterpriseId === undefined ? {} : { enterpriseId }),
      });
    },
  });
  app.error((error) => (error.code === foreignWorkspace ? Promise.resolve() : Promise.reject(error)));
  app.event(/.*/, async ({ body }) => {
    const { event, team_id: teamId, authorizations } = eventBody.parse(body);
    const workspace = workspaces.of(authorizations?.[0]?.team_id ?? teamId);
    if (event.type === 'assistant_thread_started')
      return void greetAssistantThread(event, workspace, people, log);
    const message = messageEvent.safeParse(event);
    if (message.success) await inbound.handle(message.data, workspace, sink);
  });
  app.action(/.*/, async ({ body, ack }) => {
    await presses.pressed(body, sink);
    await ack();
  });
  app.view(/.*/, async ({ body, ack }) => {
    await presses.submitted(body, sink);
    await ack();
  });
  app.command(/.*/, async ({ body, ack }) => {
    await commands.typed(body, sink);
    await ack();
  });

  return {
    // Bolt acknowledges events before it calls a handler, so what it acknowledges with is only noted here.
    async process(delivery) {
      if (isOwnEcho(delivery.body, workspaces)) return undefined;
      let answer: unknown;
      const ack = (response?: unknown) => {
        answer = response;
        return Promise.resolve();
      };
      try {
        await app.processEvent({ ...delivery, ack });
      } catch (error) {
        log.error(
          { reason: errorMessage(error) },
          'Slack: a delivery was not stored; Slack will send it again',
        );
        throw error;
      }
      return answer;
    },
  };
}

const echo = z.object({
  team_id: z.string(),
  event: z.object({ type: z.literal('message'), bot_id: z.string() }),
});

/** Slack tells the bot of each message of its own. That is the half of what comes, and not worth Bolt's time. */
function isOwnEcho(body: unknown, workspaces: Workspaces): boolean {
  const told = echo.safeParse(body).data;
  return (
    told !== undefined &&
    workspaces.has(told.team_id) &&
    workspaces.of(told.team_id).botId === told.event.bot_id
  );
}
