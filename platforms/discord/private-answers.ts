import { z } from 'zod';
import { type DiscordApi, withId } from './api.ts';
import { DiscordRefusal } from './errors.ts';
import type { DiscordDeps } from './options.ts';
import { type DiscordPayload, messageFields } from './payload.ts';
import { messageFlag, type WireInteraction } from './wire.ts';

/** Answers to slash commands that only the one who gave the command sees. */
export interface PrivateAnswers {
  /** To be called before the command is stored; `answered` settles once Discord has its first answer. */
  expect(interaction: WireInteraction, answered: Promise<void>): Promise<void>;
  /** The id of the private message; undefined when `replyTo` is no command, or its time is over. */
  send(
    replyTo: string | undefined,
    content: DiscordPayload,
    signal: AbortSignal,
  ): Promise<string | undefined>;
  /** Forgets commands whose time is over. */
  prune(): Promise<void>;
}

export const privatePrefix = 'private:';

const prefix = 'command:';
/** discord.com/developers/docs/interactions/receiving-and-responding#followup-messages: 15 minutes. */
const lifetimeMs = 14 * 60_000;
const handle = z.object({ application: z.string(), token: z.string(), until: z.number() });

export function createPrivateAnswers(deps: DiscordDeps & { api: DiscordApi }): PrivateAnswers {
  const { api, clock, memory, log } = deps;
  /** First answers on their way: Discord takes no second one before. */
  const answering = new Map<string, Promise<void>>();

  async function pathFor(commandId: string) {
    const entry = handle.safeParse(await memory.get(prefix + commandId)).data;
    if (entry === undefined || entry.until <= clock.now()) return undefined;
    return `/webhooks/${entry.application}/${entry.token}` as const;
  }

  return {
    async expect({ id, application_id: application, token }, answered) {
      const settled = answered.finally(() => answering.delete(id));
      answering.set(id, settled);
      await memory.set(prefix + id, { application, token, until: clock.now() + lifetimeMs });
    },
    async send(replyTo, content, signal) {
      const path = replyTo === undefined ? undefined : await pathFor(replyTo);
      if (replyTo === undefined || path === undefined) return undefined;
      await answering.get(replyTo);
      const fields = messageFields(content);
      const body = { ...fields, flags: fields.flags | messageFlag.ephemeral };
      const call = { method: 'post', path, what: 'answer a command', effect: 'send', auth: false } as const;
      try {
        return privatePrefix + (await api.call({ ...call, body, signal }, withId)).id;
      } catch (error) {
        if (!(error instanceof DiscordRefusal)) throw error;
        log.info({ err: error }, 'an answer to a Discord command could not be private');
        return undefined;
      }
    },
    async prune() {
      for (const { key, value } of await memory.list(prefix)) {
        const entry = handle.safeParse(value).data;
        if (entry === undefined || entry.until <= clock.now()) await memory.delete(key);
      }
    },
  };
}
