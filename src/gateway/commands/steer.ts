import type { Command } from './command.ts';
import { passOn } from './pass-on.ts';

/** The text goes to the model with the next tool result; when none follows it becomes the next turn. */
export const steer: Command = {
  name: 'steer',
  whileBusy: true,
  run: (call) => passOn(call, 'steer', call.messages.commands.steered),
};
