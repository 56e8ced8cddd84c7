import { Api } from 'grammy';
import { errorMessage } from '../../src/errors.ts';
import type { BotCommand, Platform, PlatformSink } from '../platform.ts';
import { capabilitiesOf } from './capabilities.ts';
import { mapError } from './errors.ts';
import { download } from './files.ts';
import { createGate } from './gate.ts';
import { own, ownFetch } from './grammy-types.ts';
import { createIntake, type Intake } from './intake.ts';
import { type TelegramDeps, type TelegramOptions, withDefaults } from './options.ts';
import { allowedUpdates, poll } from './poller.ts';
import { render } from './render.ts';
import { createSender, threadOf } from './send.ts';
import { webhookRoute } from './webhook.ts';

/** Of those that Telegram takes. Bot API: ReactionTypeEmoji. */
const reactionEmoji = ['👀', '👍', '👎', '🔥', '🎉', '🤔', '😢'] as const;

/** The Telegram adapter, on grammY's client. Storing and confirming updates is its own, see `poller.ts`. */
export async function createTelegram(options: TelegramOptions, deps: TelegramDeps): Promise<Platform> {
  const settings = withDefaults(options);
  const { log, clock } = deps;
  const api = new Api(settings.token, { apiRoot: settings.apiRoot, fetch: ownFetch(), sensitiveLogs: false });
  const sender = createSender(api, settings);
  let intake: Intake | null = null;
  let running: { stop: AbortController; done: Promise<void> } | null = null;

  async function connect(
    sink: PlatformSink,
    commands: readonly BotCommand[],
    signal: AbortSignal,
  ): Promise<void> {
    try {
      const me = await api.getMe(own(signal));
      const account = `@${me.username}`;
      intake = createIntake({ api, sink, gate: createGate(settings, me), me, log });
      const stop = new AbortController();
      if (settings.webhook) {
        const { url, secret } = settings.webhook;
        await api.setWebhook(
          url,
          { secret_token: secret, allowed_updates: [...allowedUpdates] },
          own(signal),
        );
        running = { stop, done: Promise.resolve() };
      } else {
        await api.deleteWebhook({}, own(signal));
        running = { stop, done: poll({ api, intake, sink, settings, account, clock, log }, stop.signal) };
      }
      sink.report({ state: 'connected', account });
      setMenu(commands);
    } catch (error) {
      throw mapError(error, settings.token);
    }
  }

  /** The menu is a help, no need: a failure is logged. Bot API: setMyCommands takes a-z, 0-9 and _. */
  function setMenu(commands: readonly BotCommand[]): void {
    const menu = commands
      .filter(({ name }) => /^[a-z0-9_]{1,32}$/.test(name))
      .slice(0, 100)
      .map(({ name, description }) => ({ command: name, description: description.slice(0, 256) }));
    if (menu.length === 0) return;
    api
      .setMyCommands(menu)
      .catch((error: unknown) =>
        log.debug({ error: errorMessage(mapError(error, settings.token)) }, 'no menu'),
      );
  }

  return {
    name: 'telegram',
    capabilities: capabilitiesOf(settings),
    routes: settings.webhook ? [webhookRoute(settings.webhook.secret, () => intake)] : [],
    connect,
    async disconnect() {
      running?.stop.abort();
      await running?.done.catch(() => undefined);
      running = null;
      intake = null;
    },
    render,
    deliver: sender.deliver,
    // The Bot API shows a bot none of its own messages, so nothing can be looked for.
    findDelivered: async () => null,
    edit: sender.edit,
    remove: sender.remove,
    async showActivity(chat, activity, signal) {
      if (activity === 'working')
        await api.sendChatAction(Number(chat.chatId), 'typing', threadOf(chat), own(signal));
    },
    draft: sender.draft,
    async react(chat, messageId, emoji, signal) {
      const known = reactionEmoji.find((one) => one === emoji);
      if (!settings.reactions || (emoji !== null && !known)) return;
      const reaction = known ? [{ type: 'emoji' as const, emoji: known }] : [];
      await api.setMessageReaction(Number(chat.chatId), Number(messageId), reaction, {}, own(signal));
    },
    download: (attachment, path, signal) => download(api, settings, attachment, path, signal),
  };
}
