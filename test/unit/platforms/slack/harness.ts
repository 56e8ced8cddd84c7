import type {
  InboundEvent,
  Platform,
  PlatformMemory,
  PlatformSink,
  PlatformState,
  Press,
  PressReply,
} from '../../../../platforms/platform.ts';
import type { SlackOptions } from '../../../../platforms/slack/options.ts';
import { createSlack } from '../../../../platforms/slack/slack.ts';
import { type Clock, systemClock } from '../../../../src/clock.ts';
import { createLog, type Log } from '../../../../src/log.ts';
import { type SlackEmulator, startSlackEmulator } from '../../../emulators/slack/slack-emulator.ts';
import { createPlatformMemory } from '../../../support/platform-memory.ts';

export interface RecordingSink extends PlatformSink {
  events: InboundEvent[];
  presses: Press[];
  states: PlatformState[];
  /** What the next presses are answered with. */
  reply: PressReply;
  /** Makes the next `receive` calls fail, as with a full disk. */
  refuseNext: number;
  messages(): InboundEvent[];
}

export function recordingSink(): RecordingSink {
  const sink: RecordingSink = {
    events: [],
    presses: [],
    states: [],
    reply: { text: 'ok', alert: false },
    refuseNext: 0,
    messages: () => sink.events.filter(({ kind }) => kind === 'message'),
    receive(event) {
      if (sink.refuseNext > 0) {
        sink.refuseNext -= 1;
        return Promise.reject(new Error('not stored'));
      }
      if (!sink.events.some(({ eventId }) => eventId === event.eventId)) sink.events.push(event);
      return Promise.resolve();
    },
    press(press) {
      sink.presses.push(press);
      return Promise.resolve(sink.reply);
    },
    report: (state) => void sink.states.push(state),
    alive: () => undefined,
  };
  return sink;
}

export interface Bench {
  slack: SlackEmulator;
  platform: Platform;
  sink: RecordingSink;
  memory: PlatformMemory;
  logLines: string[];
  /** A second adapter on the same memory, as after a restart. */
  restart(options?: Partial<SlackOptions>): Promise<{ platform: Platform; sink: RecordingSink }>;
  close(): Promise<void>;
}

export const never = new AbortController().signal;
export const commands = [
  { name: 'status', description: 'What goes on' },
  { name: 'approve', description: 'Approve' },
];

/** An emulated workspace with the real adapter connected to it. */
export async function startBench(
  options: Partial<SlackOptions> = {},
  connect = true,
  clock: Clock = systemClock,
): Promise<Bench> {
  const slack = await startSlackEmulator();
  const memory = createPlatformMemory();
  const logLines: string[] = [];
  const log: Log = createLog('debug', (line) => logLines.push(line));
  const open: Platform[] = [];
  const make = async (extra: Partial<SlackOptions>) => {
    const platform = await createSlack(
      {
        botTokens: [slack.team.botToken],
        appToken: slack.appToken,
        apiRoot: slack.apiRoot,
        ...options,
        ...extra,
      },
      { log, clock, memory },
    );
    open.push(platform);
    return platform;
  };
  const sink = recordingSink();
  const platform = await make({});
  if (connect) await platform.connect(sink, commands, never);
  return {
    slack,
    platform,
    sink,
    memory,
    logLines,
    async restart(extra = {}) {
      const again = { platform: await make(extra), sink: recordingSink() };
      await again.platform.connect(again.sink, commands, never);
      return again;
    },
    async close() {
      for (const each of open) await each.disconnect();
      await slack.close();
    },
  };
}

/** Waits until `check` gives a value other than undefined and false; fails after 5 s. */
export async function until<Value>(check: () => Value | undefined | false): Promise<Value> {
  const deadline = performance.now() + 5000;
  for (;;) {
    const value = check();
    if (value !== undefined && value !== false) return value;
    if (performance.now() > deadline) throw new Error(`still waiting: ${check.toString()}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
