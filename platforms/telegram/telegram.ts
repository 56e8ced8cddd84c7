import { sleep } from '../../src/clock.ts';
import { GatewayError } from '../../src/errors.ts';
import type { ChatAddress, Platform, PlatformSink } from '../platform.ts';
import { targetOf } from './address.ts';
import { capabilitiesFor } from './capabilities.ts';
import { createClient } from './client.ts';
import { download } from './download.ts';
import { showDraft } from './draft.ts';
import { edit } from './edit.ts';
import { refusedWith, toGatewayError } from './errors.ts';
import { findSent } from './find-sent.ts';
import { heartbeatMs } from './limits.ts';
import { setMenu } from './menu.ts';
import { type TelegramDeps, type TelegramOptions, withDefaults } from './options.ts';
import { readPayload } from './payload.ts';
import { createPoller } from './poller.ts';
import { reactionOf } from './reactions.ts';
import { render } from './render.ts';
import { type SendContext, send } from './send.ts';
import { createSupport } from './support.ts';
import { allowedUpdates, createUpdateHandler, type UpdateHandler } from './updates.ts';
import { createWebhookRoute } from './webhook.ts';

export type { TelegramDeps, TelegramOptions } from './options.ts';

const longestStopMs = 5_000;

/** Telegram, by long polling or webhook. */
export async function createTelegram(options: TelegramOptions, deps: TelegramDeps): Promise<Platform> {
  const { log, clock, memory } = deps;
  const settings = withDefaults(options);
  if (settings.token === '') {
    throw new GatewayError('token_invalid', 'No Telegram bot token is set.', {
      mend: 'Set TELEGRAM_BOT_TOKEN to the token from @BotFather.',
    });
  }
  const client = createClient(settings);
  const { api } = client;
  const context: SendContext = { client, settings, support: createSupport(), moved: new Map(), log };
  let handler: UpdateHandler | null = null;
  let stopping = new AbortController();
  let polling: Promise<void> = Promise.resolve();

  async function setWebhook(
    url: string,
    secret: string,
    sink: PlatformSink,
    signal: AbortSignal,
  ): Promise<void> {
    const drop_pending_updates = settings.dropStaleUpdates;
    await api.setWebhook(
      { url, secret_token: secret, allowed_updates: allowedUpdates, drop_pending_updates },
      signal,
    );
    beat(sink, stopping.signal);
  }

  /** With a webhook nothing comes while nobody writes, so the watchdog is fed by asking. */
  function beat(sink: PlatformSink, signal: AbortSignal): void {
    const cancel = clock.after(heartbeatMs, () => {
      api.getMe(signal).then(
        () => sink.alive(),
        (error) => log.warn({ why: toGatewayError(error, 'getMe').message }, 'telegram: no heartbeat'),
      );
      if (!signal.aborted) beat(sink, signal);
    });
    signal.addEventListener('abort', cancel, { once: true });
  }

  /** Runs one call; what fails is the gateway's kind of error. */
  async function call<T>(method: string, run: () => Promise<T>): Promise<T> {
    try {
      return await run();
    } catch (error) {
      throw toGatewayError(error, method);
    }
  }

  return {
    name: 'telegram',
    capabilities: capabilitiesFor(settings),
    routes:
      settings.webhook === null ? [] : [createWebhookRoute(settings.webhook.secret, () => handler, log)],

    async connect(sink, commands, signal) {
      stopping.abort();
      stopping = new AbortController();
      sink.report({ state: 'connecting' });
      const me = await call('getMe', () => api.getMe(signal));
      const account = `@${me.username}`;
      const names = new Set(commands.map(({ name }) => name.replaceAll('-', '_')));
      const self = { id: me.id, username: me.username, commands: names };
      const handle = createUpdateHandler({ client, settings, self, sink, log });
      handler = handle;
      if (settings.webhook !== null) {
        const { url, secret } = settings.webhook;
        await call('setWebhook', () => setWebhook(url, secret, sink, signal));
      } else {
        const poller = createPoller({ client, settings, handle, sink, account, clock, log });
        await call('getUpdates', () => poller.first(signal));
        polling = poller.run(stopping.signal);
      }
      sink.alive();
      sink.report({ state: 'connected', account });
      void setMenu(client, memory, commands, log);
    },

    async disconnect() {
      stopping.abort();
      // What is being stored may end; a store that hangs must not hold up the end of the process.
      const waited = new AbortController();
      await Promise.race([polling, sleep(clock, longestStopMs, waited.signal).catch(() => undefined)]);
      waited.abort();
      client.transport.close();
    },

    render,
    deliver: async (chat, payload, deliverOptions) =>
      send(context, chat, readPayload(payload), deliverOptions),
    findDelivered: async (chat, payload, _key, signal, older = []) =>
      findSent(context, chat, readPayload(payload), older, signal),
    edit: async (chat, messageId, payload, signal) =>
      edit(context, chat, messageId, readPayload(payload), signal),

    async remove(chat, messageId, signal) {
      try {
        await api.deleteMessage({ chat_id: targetOf(chat).chat_id, message_id: Number(messageId) }, signal);
      } catch (error) {
        if (!refusedWith(error, /message to delete not found/i)) throw toGatewayError(error, 'deleteMessage');
      }
    },

    // The sign goes away by itself after five seconds or with the next message.
    async showActivity(chat, activity, signal) {
      if (activity === 'working')
        await call('sendChatAction', () =>
          api.sendChatAction({ ...targetOf(chat), action: 'typing' }, signal),
        );
    },

    draft: (chat, draftId, markdown, signal) => showDraft(context, chat, draftId, markdown, signal),

    async react(chat: ChatAddress, messageId, emoji, signal) {
      const message = { chat_id: targetOf(chat).chat_id, message_id: Number(messageId) };
      const reaction = reactionOf(emoji);
      if (reaction === null) return log.debug({ emoji }, 'telegram: no such reaction');
      await call('setMessageReaction', () => api.setMessageReaction({ ...message, reaction }, signal));
    },

    download: (attachment, path, signal) => download(client, attachment, path, signal),
  };
}
