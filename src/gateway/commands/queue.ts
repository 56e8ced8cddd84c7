import type { Command } from './command.ts';
import { passOn } from './pass-on.ts';

/** The text becomes the next turn, whatever the busy mode is. */
export const queue: Command = {
  name: 'queue',
  whileBusy: true,
  run: (call) => passOn(call, 'turn', call.messages.commands.queued),
};
