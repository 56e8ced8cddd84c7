import { createHmac, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import type { Clock } from '../../src/clock.ts';
import type { PlatformRoute } from '../platform.ts';
import type { Dispatch } from './dispatch.ts';

/** Slack's advice against replayed requests. docs.slack.dev/authentication/verifying-requests-from-slack */
const signatureWindowMs = 5 * 60_000;

const body = z.record(z.string(), z.unknown());

export interface HttpDeps {
  signingSecret: string;
  clock: Clock;
  /** Undefined until the platform is connected. */
  dispatch(): Dispatch | undefined;
  /** Called for every authentic request. */
  alive(): void;
}

/** The signed endpoint for events, interactivity and slash commands alike. Answers 200 only once all is stored. */
export function createHttpRoute({ signingSecret, clock, dispatch, alive }: HttpDeps): PlatformRoute {
  return {
    method: 'POST',
    path: '/slack/events',
    async handle(request) {
      const raw = await request.text();
      if (!isAuthentic(request.headers, raw, signingSecret, clock.now()))
        return new Response('', { status: 401 });
      alive();
      const parsed = readBody(request.headers.get('content-type') ?? '', raw);
      if (parsed === undefined) return new Response('', { status: 400 });
      if (parsed['type'] === 'url_verification') return Response.json({ challenge: parsed['challenge'] });
      const target = dispatch();
      if (target === undefined) return new Response('', { status: 503 });
      return answer(target, parsed, request.headers);
    },
  };
}

async function answer(target: Dispatch, parsed: z.infer<typeof body>, headers: Headers): Promise<Response> {
  const retryNum = Number(headers.get('x-slack-retry-num') ?? '0');
  try {
    const response = await target.process({ body: parsed, ...(retryNum > 0 ? { retryNum } : {}) });
    return response === undefined || response === '' ? new Response('') : Response.json(response);
  } catch {
    // `process` has logged why; anything but 200 makes Slack send it again.
    return new Response('', { status: 500 });
  }
}

function isAuthentic(headers: Headers, raw: string, secret: string, nowMs: number): boolean {
  const stamp = headers.get('x-slack-request-timestamp') ?? '';
  const given = Buffer.from(headers.get('x-slack-signature') ?? '');
  if (!/^\d{1,12}$/.test(stamp) || Math.abs(nowMs - Number(stamp) * 1000) > signatureWindowMs) return false;
  const own = Buffer.from(`v0=${createHmac('sha256', secret).update(`v0:${stamp}:${raw}`).digest('hex')}`);
  return own.length === given.length && timingSafeEqual(own, given);
}

/** Events are JSON; interactions are JSON in a form field; slash commands are a plain form. */
function readBody(contentType: string, raw: string): z.infer<typeof body> | undefined {
  try {
    if (contentType.startsWith('application/json')) return body.parse(JSON.parse(raw));
    const form = new URLSearchParams(raw);
    const payload = form.get('payload');
    return body.parse(payload === null ? Object.fromEntries(form) : JSON.parse(payload));
  } catch {
    return undefined;
  }
}
