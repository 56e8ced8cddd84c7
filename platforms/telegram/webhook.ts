import { createHash, timingSafeEqual } from 'node:crypto';
import type { Update } from 'grammy/types';
import { errorMessage } from '../../src/errors.ts';
import type { Log } from '../../src/log.ts';
import type { PlatformRoute } from '../platform.ts';
import { webhookPath } from './options.ts';
import type { UpdateHandler } from './updates.ts';

const answers = { ok: 200, notJson: 400, wrongSecret: 401, notStored: 503 } as const;

/**
 * Telegram's calls. Each must bear the secret; it is answered 200 only when stored, and Telegram repeats what got
 * another answer. `handler` is null until the bot knows who it is.
 */
export function createWebhookRoute(
  secret: string,
  handler: () => UpdateHandler | null,
  log: Log,
): PlatformRoute {
  const expected = digest(secret);
  return {
    method: 'POST',
    path: webhookPath,
    async handle(request) {
      const given = request.headers.get('x-telegram-bot-api-secret-token') ?? '';
      if (!timingSafeEqual(digest(given), expected)) return answer('wrongSecret');
      const update: unknown = await request.json().catch(() => null);
      if (!isUpdate(update)) return answer('notJson');
      const handle = handler();
      if (handle === null) return answer('notStored');
      try {
        await handle(update);
        return answer('ok');
      } catch (error) {
        log.warn({ why: errorMessage(error) }, 'telegram: an update could not be stored; it will come again');
        return answer('notStored');
      }
    },
  };
}

function answer(outcome: keyof typeof answers): Response {
  return new Response(null, { status: answers[outcome] });
}

/** The secret has proven that Telegram sent it; its shape is then the Bot API's. */
function isUpdate(value: unknown): value is Update {
  return (
    typeof value === 'object' && value !== null && 'update_id' in value && typeof value.update_id === 'number'
  );
}

/** Of one length, whatever the input: as comparing in constant time asks for. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
