import { z } from 'zod';
import type { Drivable } from '../drive.ts';
import type { SlackEmulator } from './slack-emulator.ts';

const said = z.object({
  event: z.object({ type: z.literal('message'), channel: z.string(), user: z.string() }),
});

/** People in direct messages. */
export function drivable(slack: SlackEmulator): Drivable {
  return {
    addPerson(name) {
      const user = slack.addUser(name);
      return { chat: user.dm().id, says: (text) => void user.says(text) };
    },
    watch: ({ handedOut, showed }) =>
      slack.watch({
        sent(payload, at) {
          const message = said.safeParse(payload).data?.event;
          if (message !== undefined && message.user !== slack.team.botUserId) handedOut(message.channel, at);
        },
        called: ({ args, at }) => showed(args['channel'] ?? '', args['text'] ?? '', at),
      }),
  };
}
