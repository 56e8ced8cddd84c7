import { sleep, systemClock } from '../../src/clock.ts';
import { errorMessage } from '../../src/errors.ts';
import { isRecord } from '../results.ts';

export interface RestCall {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below `/v10`, with its parameters encoded. */
  path: string;
  query?: Readonly<Record<string, string | number>>;
  body?: Readonly<Record<string, unknown>>;
  /** Shown in the server's audit log. */
  reason?: string | undefined;
}

export interface DiscordRest {
  /** The answer's JSON; null when there is none. Rejects with an Error whose text is fit for the model. */
  call(call: RestCall): Promise<unknown>;
}

const callTimeoutMs = 15_000;
const longestWaitMs = 10_000;
const mostTries = 3;

export const hasToken = (): boolean => (process.env['DISCORD_BOT_TOKEN'] ?? '') !== '';

/** Discord's REST API as the bot. Waits out a short rate limit, gives up on a long one. */
export function createRest(signal: AbortSignal): DiscordRest {
  const root = (process.env['DISCORD_API_ROOT'] || 'https://discord.com/api').replace(/\/+$/, '');
  const token = process.env['DISCORD_BOT_TOKEN'] ?? '';

  async function send({ method, path, query = {}, body, reason }: RestCall): Promise<Response> {
    const url = new URL(`${root}/v10${path}`);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, String(value));
    const headers = {
      authorization: `Bot ${token}`,
      'user-agent': 'DiscordBot (hermes-gateway, 1)',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(reason === undefined ? {} : { 'x-audit-log-reason': encodeURIComponent(reason).slice(0, 512) }),
    };
    const within = AbortSignal.any([signal, AbortSignal.timeout(callTimeoutMs)]);
    try {
      return await fetch(url, {
        method,
        headers,
        signal: within,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
    } catch (error) {
      throw new Error(`Discord could not be reached: ${errorMessage(error)}.`);
    }
  }

  async function call(wanted: RestCall): Promise<unknown> {
    for (let tries = 1; ; tries += 1) {
      const response = await send(wanted);
      const text = await response.text();
      const answer = readJson(text);
      if (response.ok) return answer;
      const said = isRecord(answer) ? answer : {};
      const waitMs =
        response.status === 429 ? Number(said['retry_after'] ?? 1) * 1000 : Number.POSITIVE_INFINITY;
      if (waitMs > longestWaitMs || tries === mostTries) throw new Error(refusal(response.status, said));
      await sleep(systemClock, waitMs, signal);
    }
  }

  return { call };
}

function readJson(text: string): unknown {
  try {
    return text === '' ? null : JSON.parse(text);
  } catch {
    // A proxy's page instead of an answer: the status says enough.
    return null;
  }
}

/** discord.com/developers/docs/topics/opcodes-and-status-codes#json */
const advice: Readonly<Record<number, string>> = {
  10003: 'There is no such channel.',
  10004: 'The bot is not in such a server.',
  10007: 'There is no such member in the server.',
  10008: 'There is no such message.',
  10011: 'There is no such role.',
  10013: 'There is no such user.',
  50001: 'The bot may not see it.',
  50013: 'The bot lacks the permission, or its role is below the one that it would act on.',
};

function refusal(status: number, answer: Readonly<Record<string, unknown>>): string {
  const code = Number(answer['code'] ?? 0);
  if (status === 401) return 'Discord refuses the bot token (DISCORD_BOT_TOKEN).';
  if (status === 429) return 'Discord asks to wait; try again later.';
  return `Discord refused: ${String(answer['message'] ?? `HTTP ${status}`)}. ${advice[code] ?? ''}`.trim();
}
