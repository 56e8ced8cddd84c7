import { z } from 'zod';
import type { BotCommand, PlatformMemory, PlatformSink } from '../platform.ts';
import { addressOf } from './address.ts';
import { channelAllowed, type SlackSettings } from './options.ts';
import type { People } from './people.ts';
import { slashCommand } from './wire.ts';
import type { Workspaces } from './workspaces.ts';

/** The one command that every Slack app of ours has; what follows it is the gateway's command. */
const umbrella = '/hermes';
const messagePrefix = 'command:';
/** Slack's limit for a response URL. */
const urlLifetimeMs = 30 * 60_000;

export interface CommandDeps {
  settings: SlackSettings;
  workspaces: Workspaces;
  people: People;
  memory: PlatformMemory;
  now(): number;
}

export interface Commands {
  /** The names that may follow `/hermes`; anything else after it is a message to the agent. */
  know(commands: readonly BotCommand[]): void;
  /** Resolves once the command is stored. */
  typed(body: unknown, sink: PlatformSink): Promise<void>;
  /** The URL for a private answer to this command. Undefined for any other message, and once it has lapsed. */
  responseUrlOf(messageId: string | undefined): Promise<string | undefined>;
  /** Forgets URLs that no longer work. */
  prune(): Promise<void>;
}

const kept = z.object({ url: z.string(), until: z.number() });

/** Slash commands. They leave no message behind, so the gateway's answer goes to the one who typed. */
export function createCommands({ settings, workspaces, people, memory, now }: CommandDeps): Commands {
  let names: ReadonlySet<string> = new Set();

  function gatewayCommand(command: string, text: string): string {
    if (command !== umbrella) return `${command} ${text}`.trim();
    const [first = ''] = text.trim().split(/\s/, 1);
    if (first === '') return '/help';
    return names.has(first.toLowerCase()) ? `/${text.trim()}` : text.trim();
  }

  return {
    know(commands) {
      names = new Set(commands.map(({ name }) => name));
    },
    async typed(body, sink) {
      const command = slashCommand.parse(body);
      if (!channelAllowed(settings, command.channel_id)) return;
      const workspace = workspaces.of(command.team_id);
      const { name, locale } = await people.find(workspace, command.user_id);
      const messageId = `${messagePrefix}${command.trigger_id}`;
      const text = gatewayCommand(command.command, command.text);
      const chat = addressOf({
        teamId: workspace.teamId,
        channel: command.channel_id,
        channelName: command.channel_name,
      });
      // In a DM nobody else reads along.
      if (text.startsWith('/') && chat.kind !== 'dm') {
        await memory.set(messageId, { url: command.response_url, until: now() + urlLifetimeMs });
      }
      await sink.receive({
        eventId: `${workspace.teamId}:${messageId}`,
        kind: 'message',
        chat,
        sender: { id: command.user_id, name, isBot: false, ...(locale === undefined ? {} : { locale }) },
        messageId,
        text,
        addressed: true,
        attachments: [],
        sentAt: now(),
      });
    },
    async responseUrlOf(messageId) {
      if (messageId?.startsWith(messagePrefix) !== true) return undefined;
      const entry = kept.safeParse(await memory.get(messageId));
      return entry.success && entry.data.until > now() ? entry.data.url : undefined;
    },
    async prune() {
      for (const { key, value } of await memory.list(messagePrefix)) {
        const entry = kept.safeParse(value);
        if (!entry.success || entry.data.until <= now()) await memory.delete(key);
      }
    },
  };
}
