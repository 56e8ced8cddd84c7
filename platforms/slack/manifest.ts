import { messagesFor } from '../../src/messages/messages.ts';
import type { BotCommand } from '../platform.ts';
import { botScopes } from './scopes.ts';

export interface ManifestOptions {
  /** Name of the app and its bot user. */
  name: string;
  /** Commands to register on their own, besides `/hermes`; they must be free in the workspace. */
  commands?: readonly BotCommand[];
  /** The public URL of the gateway, such as `https://bot.example.org`; absent for Socket Mode. */
  publicUrl?: string;
}

/** Slack's limits for an app's texts. docs.slack.dev/reference/app-manifest */
const nameCharacters = 35;
const descriptionCharacters = 140;

const botEvents = [
  'app_mention',
  'assistant_thread_started',
  'message.channels',
  'message.groups',
  'message.im',
  'message.mpim',
];

/** The app manifest that makes a Slack app of exactly the shape this adapter needs. */
export function slackManifest({ name, commands = [], publicUrl }: ManifestOptions): Record<string, unknown> {
  const shownName = name.slice(0, nameCharacters);
  const endpoint = publicUrl === undefined ? undefined : new URL('/slack/events', publicUrl).href;
  const withUrl = (key: string) => (endpoint === undefined ? {} : { [key]: endpoint });
  const umbrella = { name: 'hermes', description: `Talk to ${shownName}, or give it a command` };
  return {
    display_information: { name: shownName, description: 'An AI agent, self-hosted behind hermes-gateway' },
    features: {
      bot_user: { display_name: shownName, always_online: true },
      app_home: {
        home_tab_enabled: false,
        messages_tab_enabled: true,
        messages_tab_read_only_enabled: false,
      },
      assistant_view: {
        assistant_description: `${shownName} works for you and asks before it does harm`,
        suggested_prompts: messagesFor(undefined).adapter.prompts,
      },
      slash_commands: [umbrella, ...commands].map((command) => ({
        command: `/${command.name}`,
        description: command.description.slice(0, descriptionCharacters),
        usage_hint: command === umbrella ? '[command or message]' : '[arguments]',
        should_escape: false,
        ...withUrl('url'),
      })),
    },
    oauth_config: { scopes: { bot: Object.keys(botScopes) } },
    settings: {
      event_subscriptions: { bot_events: botEvents, ...withUrl('request_url') },
      interactivity: { is_enabled: true, ...withUrl('request_url') },
      org_deploy_enabled: false,
      socket_mode_enabled: endpoint === undefined,
      token_rotation_enabled: false,
    },
  };
}

/** A link that opens Slack's "create an app" page with the manifest filled in. */
export function slackManifestLink(manifest: Record<string, unknown>): string {
  return `https://api.slack.com/apps?new_app=1&manifest_json=${encodeURIComponent(JSON.stringify(manifest))}`;
}
