import type { Clock } from '../../src/clock.ts';
import type { Log } from '../../src/log.ts';
import type { DiscordApi } from './api.ts';
import { discordCode, refusedWith } from './errors.ts';
import { textUnits } from './markdown.ts';
import { cutTo, escapePlain } from './plain-escape.ts';
import { messageFlag, type WireInteraction } from './wire.ts';

/** discord.com/developers/docs/interactions/receiving-and-responding#interaction-callback-type */
const callback = { message: 4, deferredMessage: 5, deferredUpdate: 6, modal: 9 } as const;

/** How an interaction ends for the person: words that only they see, or nothing to see. */
export type Answer = { text: string } | null;

/** Discord gives three seconds; what takes longer is answered "wait" in time and told after. */
const patienceMs = 2000;
const late = Symbol('late');

export interface Form {
  customId: string;
  title: string;
  label: string;
}

export interface Answerer {
  /** Answers with what `work` comes to. Never rejects: a failure is logged, the person sees Discord's own notice. */
  answerWith(interaction: WireInteraction, work: Promise<Answer>): Promise<void>;
  openForm(interaction: WireInteraction, form: Form): Promise<void>;
}

export function createAnswerer(api: DiscordApi, clock: Clock, log: Log): Answerer {
  function reply({ id, token }: WireInteraction, type: number, data?: unknown): Promise<void> {
    return api.run({
      method: 'post',
      path: `/interactions/${id}/${token}/callback`,
      what: 'answer an interaction',
      auth: false,
      body: { type, ...(data === undefined ? {} : { data }) },
    });
  }

  /** Plain text, which may hold a person's name: no markup in it comes to life. */
  function privately(text: string) {
    return {
      content: cutTo(escapePlain(text), textUnits),
      flags: messageFlag.ephemeral,
      allowed_mentions: { parse: [] },
    };
  }

  async function answerWith(interaction: WireInteraction, work: Promise<Answer>): Promise<void> {
    const onCard = interaction.type !== 2;
    try {
      const first = await inTime(work);
      if (first !== late) {
        return await (first === null && onCard
          ? reply(interaction, callback.deferredUpdate)
          : reply(interaction, callback.message, privately(first?.text ?? '✅')));
      }
      await (onCard
        ? reply(interaction, callback.deferredUpdate)
        : reply(interaction, callback.deferredMessage, { flags: messageFlag.ephemeral }));
      const answer = await work;
      if (answer === null && onCard) return;
      await api.run({
        method: 'post',
        path: `/webhooks/${interaction.application_id}/${interaction.token}`,
        what: 'follow an interaction up',
        auth: false,
        body: privately(answer?.text ?? '✅'),
      });
    } catch (error) {
      const known = refusedWith(error, discordCode.unknownInteraction, discordCode.alreadyAcknowledged);
      log[known ? 'info' : 'warn']({ err: error }, 'a Discord interaction could not be answered');
    }
  }

  function inTime(work: Promise<Answer>): Promise<Answer | typeof late> {
    return new Promise((resolve, reject) => {
      const cancel = clock.after(patienceMs, () => resolve(late));
      work.then(resolve, reject).finally(cancel);
    });
  }

  return {
    answerWith,
    async openForm(interaction, { customId, title, label }) {
      const field = { type: 4, custom_id: 'text', style: 2, required: false, max_length: 500 };
      const data = {
        custom_id: customId,
        title: title.slice(0, 45),
        components: [{ type: 18, label, component: field }],
      };
      await reply(interaction, callback.modal, data).catch((error: unknown) => {
        log.warn({ err: error }, 'a Discord form could not be opened');
      });
    },
  };
}
