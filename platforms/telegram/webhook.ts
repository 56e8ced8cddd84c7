import { createHash, timingSafeEqual } from 'node:crypto';
import type { Update } from 'grammy/types';
import { z } from 'zod';
import type { PlatformRoute } from '../platform.ts';
import type { Intake } from './intake.ts';

/** Only what must be there for an update to be told from garbage; grammY's types describe the rest. */
const updateSchema = z.custom<Update>(
  (value) => z.looseObject({ update_id: z.number() }).safeParse(value).success,
);

/** `POST /webhooks/telegram`: 200 only after the update is stored; anything else makes Telegram send it again. */
export function webhookRoute(secret: string, intake: () => Intake | null): PlatformRoute {
  return {
    method: 'POST',
    path: '/webhooks/telegram',
    async handle(request) {
      const given = request.headers.get('x-telegram-bot-api-secret-token') ?? '';
      if (!sameSecret(given, secret)) return new Response('forbidden', { status: 403 });
      const ready = intake();
      if (!ready) return new Response('not ready', { status: 503 });
      const update = updateSchema.safeParse(await request.json().catch(() => null));
      if (!update.success) return new Response('no update', { status: 400 });
      const stored = await ready.take([update.data]);
      return new Response(null, { status: stored === 1 ? 200 : 503 });
    },
  };
}

/** In constant time, whatever the lengths. */
function sameSecret(given: string, secret: string): boolean {
  const hash = (text: string) => createHash('sha256').update(text).digest();
  return secret !== '' && timingSafeEqual(hash(given), hash(secret));
}
