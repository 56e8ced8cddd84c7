import { z } from 'zod';
import type { Drivable } from '../drive.ts';
import type { DiscordEmulator } from './discord-emulator.ts';

const said = z.object({ channel_id: z.string(), author: z.object({ id: z.string() }) });
const shown = z.object({ content: z.string() });

/** People in direct messages. */
export function drivable(discord: DiscordEmulator): Drivable {
  return {
    addPerson(name) {
      const user = discord.addUser(name);
      return { chat: user.dm().id, says: (text) => void user.says(text) };
    },
    watch: ({ handedOut, showed }) =>
      discord.watch({
        sent(type, data, at) {
          const message = type === 'MESSAGE_CREATE' ? said.safeParse(data).data : undefined;
          if (message !== undefined && message.author.id !== discord.world.bot.id)
            handedOut(message.channel_id, at);
        },
        called({ params, body, at }) {
          const message = shown.safeParse(body).data;
          if (message !== undefined) showed(params['channel_id'] ?? '', message.content, at);
        },
      }),
  };
}
