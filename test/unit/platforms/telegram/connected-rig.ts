import { onTestFinished } from 'vitest';
import type { TelegramOptions } from '../../../../platforms/telegram/options.ts';
import { createRecordingSink, type RecordingSink } from '../../../contracts/recording-sink.ts';
import { type TelegramRig, telegramRig } from '../../../emulators/telegram/rig.ts';
import type { EmulatorOptions } from '../../../emulators/telegram/telegram-emulator.ts';

export interface ConnectedRig extends TelegramRig {
  sink: RecordingSink;
}

const commands = [
  { name: 'help', description: 'What I can do' },
  { name: 'status', description: 'What I am doing' },
];

/** The adapter connected to a fresh emulator, both ended with the test. */
export async function connectedRig(
  options: Partial<TelegramOptions> = {},
  emulated: EmulatorOptions = {},
): Promise<ConnectedRig> {
  const rig = await unconnectedRig(options, emulated);
  await connect(rig);
  return rig;
}

export async function unconnectedRig(
  options: Partial<TelegramOptions> = {},
  emulated: EmulatorOptions = {},
): Promise<ConnectedRig> {
  const rig = await telegramRig(options, emulated);
  onTestFinished(async () => {
    await rig.platform.disconnect();
    await rig.emulator.close();
  });
  return { ...rig, sink: createRecordingSink() };
}

export function connect({ platform, sink }: Pick<ConnectedRig, 'platform' | 'sink'>): Promise<void> {
  return platform.connect(sink, commands, AbortSignal.timeout(10_000));
}

let keys = 0;
export function deliverOptions() {
  return { key: `k${++keys}`, signal: AbortSignal.timeout(5_000) };
}
