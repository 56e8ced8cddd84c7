import { z } from 'zod';
import { errorMessage } from '../../src/errors.ts';
import type { Log } from '../../src/log.ts';
import { escapeMrkdwn } from '../format/slack-mrkdwn.ts';
import type { PlatformSink, Press, PressReply } from '../platform.ts';
import { addressOf } from './address.ts';
import { anyAnswer } from './api.ts';
import { type ButtonValue, readButtonValue } from './button-value.ts';
import type { People } from './people.ts';
import type { Responder } from './responder.ts';
import { type BlockActions, blockActions, viewSubmission } from './wire.ts';
import type { Workspaces } from './workspaces.ts';

const formId = 'hermes_input';

/** What the form carries from the press that opened it to its submission. */
const formState = z.object({
  button: z.string(),
  channel: z.string(),
  channelName: z.string().optional(),
  threadTs: z.string().optional(),
  messageTs: z.string(),
  responseUrl: z.string().optional(),
});
type FormState = z.infer<typeof formState>;

export interface PressDeps {
  workspaces: Workspaces;
  people: People;
  responder: Responder;
  log: Log;
}

export interface Presses {
  /** Each resolves once the press is stored (or its form is being opened): then it may be acknowledged. */
  pressed(body: unknown, sink: PlatformSink): Promise<void>;
  submitted(body: unknown, sink: PlatformSink): Promise<void>;
}

/** Button presses and the forms that some of them open. */
export function createPresses({ workspaces, people, responder, log }: PressDeps): Presses {
  async function pressed(body: unknown, sink: PlatformSink): Promise<void> {
    const parsed = blockActions.safeParse(body);
    const action = parsed.data?.actions[0];
    const button = action === undefined ? undefined : readButtonValue(action.value);
    // A link button, or another app's block in a shared message.
    if (parsed.data === undefined || action === undefined || button === undefined) return;
    const state: FormState = {
      button: button.id,
      channel: parsed.data.channel.id,
      channelName: parsed.data.channel.name,
      threadTs: parsed.data.message.thread_ts,
      messageTs: parsed.data.message.ts,
      responseUrl: parsed.data.response_url,
    };
    const eventId = `press:${state.channel}:${state.messageTs}:${action.action_ts}:${parsed.data.user.id}`;
    const press = () => decide(state, parsed.data.team?.id, parsed.data.user, eventId, undefined, sink);
    if (button.ask === undefined) return press();
    // The trigger lives three seconds, and nothing is decided yet: acknowledge at once, open beside it.
    openForm(parsed.data, button, button.ask, state).catch(async (error: unknown) => {
      log.warn(
        { reason: errorMessage(error) },
        'Slack: a form did not open; the press counts without its text',
      );
      await press().catch((failure: unknown) =>
        log.error({ reason: errorMessage(failure) }, 'Slack: a press was lost'),
      );
    });
  }

  async function openForm(
    body: BlockActions,
    button: ButtonValue,
    ask: string,
    state: FormState,
  ): Promise<void> {
    const { api } = workspaces.of(body.team?.id);
    const label = button.label.slice(0, 24);
    const view = {
      type: 'modal',
      callback_id: formId,
      private_metadata: JSON.stringify(state),
      title: { type: 'plain_text', text: label },
      submit: { type: 'plain_text', text: label },
      blocks: [
        {
          type: 'input',
          block_id: 'input',
          optional: true,
          label: { type: 'plain_text', text: ask.slice(0, 2000) },
          element: { type: 'plain_text_input', action_id: 'input', multiline: true, max_length: 2000 },
        },
      ],
    };
    await api.call(anyAnswer, 'views.open', { trigger_id: body.trigger_id, view });
  }

  async function submitted(body: unknown, sink: PlatformSink): Promise<void> {
    const { team, user, view } = viewSubmission.parse(body);
    if (view.callback_id !== formId) return;
    const state = formState.parse(JSON.parse(view.private_metadata));
    const input = view.state.values['input']?.['input']?.value ?? undefined;
    await decide(state, team?.id, user, `form:${view.id}`, input, sink);
  }

  async function decide(
    state: FormState,
    teamId: string | undefined,
    user: BlockActions['user'],
    eventId: string,
    input: string | undefined,
    sink: PlatformSink,
  ): Promise<void> {
    const workspace = workspaces.of(teamId);
    const known = people.peek(workspace, user.id);
    const press: Press = {
      eventId: `${workspace.teamId}:${eventId}`,
      chat: addressOf({
        teamId: workspace.teamId,
        channel: state.channel,
        channelName: state.channelName,
        threadTs: state.threadTs,
      }),
      sender: {
        id: user.id,
        name: known?.name ?? user.name ?? user.username ?? user.id,
        isBot: false,
        ...(known?.locale === undefined ? {} : { locale: known.locale }),
      },
      messageId: state.messageTs,
      buttonId: state.button,
      ...(input === undefined ? {} : { input }),
    };
    tell(await sink.press(press), state);
  }

  /** The card itself shows what was decided; only what needs attention is worth a message of its own. */
  function tell(reply: PressReply, { responseUrl, threadTs }: FormState): void {
    if (!reply.alert || responseUrl === undefined) return;
    responder
      .whisper(responseUrl, { mrkdwn: escapeMrkdwn(reply.text), threadTs })
      .catch((error: unknown) =>
        log.warn({ reason: errorMessage(error) }, 'Slack: a private reply did not arrive'),
      );
  }

  return { pressed, submitted };
}
