import { z } from 'zod';
import type { Log } from '../../src/log.ts';
import type { BotCommand } from '../platform.ts';
import type { DiscordApi } from './api.ts';

const registeredCommand = z.object({
  name: z.string(),
  description: z.string(),
  type: z.number().default(1),
  options: z
    .array(
      z.object({
        type: z.number(),
        name: z.string(),
        description: z.string(),
        required: z.boolean().default(false),
      }),
    )
    .default([]),
});
type RegisteredCommand = z.infer<typeof registeredCommand>;

/** discord.com/developers/docs/interactions/application-commands: 100 commands, names of 32, descriptions of 100. */
const mostCommands = 100;
const nameForm = /^[-_\p{Ll}\p{Lo}\p{N}]{1,32}$/u;

function wanted(commands: readonly BotCommand[]): RegisteredCommand[] {
  return commands
    .filter(({ name }) => nameForm.test(name))
    .slice(0, mostCommands)
    .map(({ name, description }) => ({
      name,
      description: description.slice(0, 100) || name,
      type: 1,
      options: [{ type: 3, name: 'text', description: 'What to pass to the command', required: false }],
    }));
}

const byName = (list: readonly RegisteredCommand[]): string =>
  JSON.stringify(list.toSorted((a, b) => (a.name < b.name ? -1 : 1)));

/**
 * Registers the slash commands, and writes nothing when Discord has the same ones: each write counts against a daily
 * limit. A failure is logged, since the bot works without its menu.
 */
export async function syncCommands(
  api: DiscordApi,
  applicationId: string,
  commands: readonly BotCommand[],
  log: Log,
): Promise<void> {
  const path = `/applications/${applicationId}/commands` as const;
  try {
    const known = await api.call(
      { method: 'get', path, what: 'list the slash commands' },
      z.array(registeredCommand),
    );
    const desired = wanted(commands);
    if (byName(known) === byName(desired)) return;
    await api.run({ method: 'put', path, what: 'register the slash commands', body: desired });
    log.info({ commands: desired.length }, 'registered the Discord slash commands');
  } catch (error) {
    log.warn({ err: error }, 'the Discord slash commands could not be registered');
  }
}
