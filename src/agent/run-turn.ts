import { askModel } from './ask-model.ts';
import { nextStep } from './next-step.ts';
import { runTools } from './run-tools.ts';
import type { TurnOutcome, TurnPorts } from './turn.ts';

/**
 * Works on the session until its transcript is at rest, a person has to be asked, or the signal aborts. Rejects
 * only when the model or the store fails for good; what was written until then stays and can be resumed.
 */
export async function runTurn(ports: TurnPorts, signal: AbortSignal): Promise<TurnOutcome> {
  while (!signal.aborted) {
    const step = nextStep(ports.transcript.entries());
    if (step.kind === 'rest') return 'done';
    if (step.kind === 'ask_model') {
      if ((await askModel(ports, signal)) === 'interrupted') return 'interrupted';
    } else if ((await runTools(ports, step.calls, signal)) === 'parked') {
      return 'parked';
    }
  }
  return 'interrupted';
}
