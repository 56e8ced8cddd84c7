import { randomBytes } from 'node:crypto';
import { nextStep } from '../../agent/next-step.ts';
import { runTurn } from '../../agent/run-turn.ts';
import type { TurnOutcome, TurnPorts } from '../../agent/turn.ts';
import { GatewayError } from '../../errors.ts';
import type { Messages } from '../../messages/messages.ts';
import { failureText } from '../../messages/messages.ts';
import type { TurnRun } from './lanes.ts';
import type { Presenter } from './presenter.ts';
import type { createTranscript } from './transcript.ts';

export interface TurnRunParts {
  sessionKey: string;
  ports: TurnPorts;
  transcript: ReturnType<typeof createTranscript>;
  presenter: Presenter;
  messages: Messages;
  onEnd(outcome: TurnOutcome | 'failed'): void;
}

const noUsage = { inputTokens: 0, outputTokens: 0 };
const closing = {
  superseded: 'The user wrote a new message instead. Nothing was run.',
  stopped: 'The user stopped the turn. Nothing was run.',
} as const;

/** Runs one turn and sees it to an end that the chat and the transcript both know of. */
export function createTurnRun(parts: TurnRunParts): TurnRun {
  const { ports, transcript, presenter, messages, sessionKey } = parts;
  const { log, model } = ports;

  async function run(signal: AbortSignal): Promise<TurnOutcome> {
    try {
      const outcome = await runTurn(ports, signal);
      parts.onEnd(outcome);
      return outcome;
    } catch (error) {
      if (!isForTheUser(error)) throw error;
      parts.onEnd('failed');
      const errorId = newErrorId();
      log.error({ errorId, code: error.code, error: error.message, session: sessionKey }, 'a turn failed');
      await apologise(failureText(messages, error, errorId));
      return 'done';
    }
  }

  async function apologise(text: string): Promise<void> {
    await answerOpenCalls('Interrupted: the turn was given up.');
    const body = { kind: 'assistant', text, toolCalls: [], model: model.model, outcome: 'failed' } as const;
    await transcript.finish(body, noUsage);
  }

  /** Every call gets a result, or providers refuse the conversation from here on. */
  async function answerOpenCalls(why: string): Promise<void> {
    const step = nextStep(transcript.entries());
    if (step.kind !== 'run_tools') return;
    const content = JSON.stringify({ error: why, status: 'interrupted' });
    await transcript.appendResults(step.calls.map((call) => ({ callId: call.id, tool: call.name, content })));
  }

  async function close(reason: 'superseded' | 'stopped'): Promise<void> {
    await answerOpenCalls(closing[reason]);
    if (reason === 'superseded') {
      await transcript.close({
        kind: 'note',
        text: 'The user interrupted the turn above with the next message.',
      });
      return;
    }
    await transcript.close({
      kind: 'assistant',
      text: '',
      toolCalls: [],
      model: model.model,
      outcome: 'interrupted',
    });
  }

  async function giveUp(why: 'deaths' | 'stalled'): Promise<void> {
    const errorId = newErrorId();
    log.error({ errorId, why, session: sessionKey }, 'a turn was given up');
    await apologise(why === 'stalled' ? messages.turn.stalled(errorId) : messages.turn.gaveUp(errorId));
  }

  return { run, close, giveUp, lastActivity: presenter.lastActivity, dispose: presenter.dispose };
}

/** The store's own failures leave the turn as it is, to be resumed; everything else is told in the chat. */
function isForTheUser(error: unknown): error is GatewayError {
  return error instanceof GatewayError && !error.code.startsWith('store') && error.code !== 'cancelled';
}

/** What the chat is told and the log holds, so that the two can be brought together. */
function newErrorId(): string {
  return randomBytes(3).toString('hex');
}
