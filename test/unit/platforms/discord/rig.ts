import { afterEach, expect } from 'vitest';
import { createDiscord, type DiscordOptions } from '../../../../platforms/discord/discord.ts';
import type {
  BotCommand,
  ChatAddress,
  InboundEvent,
  Platform,
  PlatformMemory,
  PlatformSink,
  PlatformState,
  Press,
  PressReply,
} from '../../../../platforms/platform.ts';
import { systemClock } from '../../../../src/clock.ts';
import { createLog } from '../../../../src/log.ts';
import {
  type DiscordEmulator,
  type EmulatorOptions,
  startDiscordEmulator,
} from '../../../emulators/discord/discord-emulator.ts';
import { createPlatformMemory } from '../../../support/platform-memory.ts';

export interface Rig {
  emulator: DiscordEmulator;
  platform: Platform;
  sink: RecordingSink;
  memory: PlatformMemory;
  logs: string[];
  connect(): Promise<void>;
  /** A new adapter with the same memory, as after a restart of the gateway. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

export interface RecordingSink extends PlatformSink {
  events: InboundEvent[];
  presses: Press[];
  states: PlatformState[];
  lives: number;
  /** What a press is answered; may be replaced. */
  onPress: (press: Press) => Promise<PressReply>;
  onReceive: (event: InboundEvent) => Promise<void>;
}

export function createSink(): RecordingSink {
  const sink: RecordingSink = {
    events: [],
    presses: [],
    states: [],
    lives: 0,
    onPress: async () => ({ text: 'done', alert: false }),
    onReceive: async () => undefined,
    async receive(event) {
      await sink.onReceive(event);
      sink.events.push(event);
    },
    async press(press) {
      const reply = await sink.onPress(press);
      sink.presses.push(press);
      return reply;
    },
    report: (state) => void sink.states.push(state),
    alive: () => {
      sink.lives += 1;
    },
  };
  return sink;
}

export const someCommands: readonly BotCommand[] = [
  { name: 'status', description: 'Shows the status' },
  { name: 'stop', description: 'Stops the turn' },
];

export interface RigOptions {
  /** Given the emulator's world, for options that name channels. */
  discord?: Partial<DiscordOptions> | ((emulator: DiscordEmulator) => Partial<DiscordOptions>);
  emulator?: EmulatorOptions;
  commands?: readonly BotCommand[];
}

export async function startRig({
  discord = {},
  emulator: options = {},
  commands = someCommands,
}: RigOptions = {}): Promise<Rig> {
  const emulator = await startDiscordEmulator(options);
  const memory = createPlatformMemory();
  const logs: string[] = [];
  const deps = { log: createLog('debug', (line) => logs.push(line)), clock: systemClock, memory };
  const given = typeof discord === 'function' ? discord(emulator) : discord;
  const create = () => createDiscord({ token: emulator.token, apiRoot: emulator.apiRoot, ...given }, deps);
  const connecting = () => rig.platform.connect(rig.sink, commands, AbortSignal.timeout(8000));
  const rig: Rig = {
    emulator,
    platform: await create(),
    sink: createSink(),
    memory,
    logs,
    connect: connecting,
    async restart() {
      await rig.platform.disconnect();
      rig.platform = await create();
      await connecting();
    },
    async close() {
      await rig.platform.disconnect();
      await emulator.close();
    },
  };
  return rig;
}

/** The answer of `probe` once it is neither false, null nor undefined. */
export async function until<Value>(
  probe: () => Value,
  timeoutMs = 5000,
): Promise<Exclude<Value, false | null | undefined>> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const value = probe();
    if (isThere(value)) return value;
    if (Date.now() > deadline) throw new Error(`still not: ${probe}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

const isThere = <Value>(value: Value): value is Exclude<Value, false | null | undefined> =>
  value !== false && value !== null && value !== undefined;

export const sendOptions = (key: string = crypto.randomUUID()) => ({
  key,
  signal: AbortSignal.timeout(5000),
});

export const dmChat = (chatId: string): ChatAddress => ({ platform: 'discord', kind: 'dm', chatId });

const openRigs: Rig[] = [];

/** A rig that is connected, and closed after the test; by then no request may have broken a rule of Discord's. */
export async function connected(options: RigOptions = {}): Promise<Rig> {
  const rig = await opened(options);
  await rig.connect();
  return rig;
}

export async function opened(options: RigOptions = {}): Promise<Rig> {
  const rig = await startRig(options);
  openRigs.push(rig);
  return rig;
}

/** To be called once by each test file. */
export function closeRigsAfterEach(): void {
  afterEach(async () => {
    for (const rig of openRigs.splice(0)) {
      await rig.close();
      expect(rig.emulator.violations()).toEqual([]);
      expect(rig.logs.filter((line) => line.includes(rig.emulator.token))).toEqual([]);
    }
  });
}
