import { errorMessage, GatewayError } from '../../src/errors.ts';
import type { Environment } from './environment.ts';
import { openEnvironment, reachOf } from './index.ts';
import type { OpenContext, TerminalOptions } from './options.ts';

/** One thing that was tried, and how it went. */
export interface TryStep {
  name: string;
  ok: boolean;
  ms: number;
  /** What was seen, or what is wrong with its mend. */
  detail: string;
}

/** What `doctor` says of a backend. */
export interface BackendFinding {
  level: 'ok' | 'error';
  message: string;
  mend?: string;
}

const stepMs = 60_000;
const sessionId = 'terminal-try';

type Check = (environment: Environment) => Promise<string>;

async function output(environment: Environment, command: string): Promise<string> {
  const signal = AbortSignal.timeout(stepMs);
  const { output: text, exitCode } = await environment.exec({
    command,
    sessionId,
    timeoutMs: stepMs,
    signal,
  });
  if (exitCode !== 0) throw new Error(`exit code ${exitCode}: ${text.trim().slice(-200)}`);
  return text.trim();
}

function expectText(seen: string, wanted: string): string {
  if (seen !== wanted)
    throw new Error(`expected ${JSON.stringify(wanted)}, saw ${JSON.stringify(seen.slice(0, 200))}`);
  return seen;
}

/** The basics of the contract, as someone who sets a backend up wants to see them. */
const checks: readonly { name: string; check: Check }[] = [
  { name: 'runs a command', check: (place) => output(place, 'uname -sm') },
  {
    name: 'keeps exports and the folder',
    async check(place) {
      await output(place, 'export HERMES_TRY=kept; cd /tmp');
      return expectText(await output(place, 'echo "$HERMES_TRY $PWD"'), 'kept /tmp');
    },
  },
  {
    name: 'ends a command at its timeout',
    async check(place) {
      const signal = AbortSignal.timeout(stepMs);
      const { exitCode } = await place.exec({ command: 'sleep 30', sessionId, timeoutMs: 500, signal });
      return expectText(`exit code ${exitCode}`, 'exit code 124');
    },
  },
  {
    name: 'shares files with the file tools',
    async check(place) {
      const path = `/tmp/hermes-try-${Date.now()}`;
      await place.files.write(path, Buffer.from('shared'));
      const seen = await output(place, `cat ${path}`);
      await place.files.remove(path);
      return expectText(seen, 'shared');
    },
  },
];

/** Opens the backend, runs the basics, closes it. Never rejects: a failure is a step that is not ok. */
export async function tryBackend(chosen: TerminalOptions, context: OpenContext): Promise<TryStep[]> {
  const options = reachOf(chosen.backend) === null ? chosen : thrownAway(chosen);
  const steps: TryStep[] = [];
  async function step<T>(
    name: string,
    work: () => Promise<T>,
    detail: (value: T) => string,
  ): Promise<T | null> {
    const from = performance.now();
    try {
      const value = await work();
      steps.push({ name, ok: true, ms: Math.round(performance.now() - from), detail: detail(value) });
      return value;
    } catch (error) {
      steps.push({ name, ok: false, ms: Math.round(performance.now() - from), detail: withMend(error) });
      return null;
    }
  }
  const environment = await step(
    `opens ${options.backend}`,
    () => openEnvironment(options, context),
    (opened) =>
      `home ${opened.home}, folder ${opened.defaultCwd}, ${opened.isolated ? 'isolated' : 'not isolated'}`,
  );
  if (environment === null) return steps;
  for (const { name, check } of checks) await step(name, () => check(environment), String);
  await step(
    'closes',
    () => environment.close(),
    () => 'nothing left',
  );
  return steps;
}

/** What is only tried must not lie in somebody's account afterwards. */
const thrownAway = (options: TerminalOptions): TerminalOptions => ({
  ...options,
  container: { ...options.container, persistent: false },
});

/** Opens the backend and runs one command, for `doctor`; a paid service is only asked. Never rejects. */
export async function checkBackend(
  options: TerminalOptions,
  context: OpenContext,
): Promise<BackendFinding[]> {
  try {
    const reach = reachOf(options.backend);
    if (reach !== null) return [{ level: 'ok', message: await reach(context) }];
    const environment = await openEnvironment(options, context);
    try {
      const seen = await output(environment, 'uname -sm');
      return [{ level: 'ok', message: `The terminal backend ${options.backend} runs commands (${seen}).` }];
    } finally {
      await environment.close();
    }
  } catch (error) {
    const mend = error instanceof GatewayError ? error.mend : undefined;
    return [{ level: 'error', message: errorMessage(error), ...(mend !== undefined && { mend }) }];
  }
}

function withMend(error: unknown): string {
  const mend = error instanceof GatewayError && error.mend !== undefined ? ` ${error.mend}` : '';
  return errorMessage(error) + mend;
}
