import { sleep, systemClock } from '../../src/clock.ts';
import { errorMessage, GatewayError, type GatewayErrorOptions } from '../../src/errors.ts';
import { redactSecrets, rememberSecret } from '../../src/redact.ts';
import { jsonOf } from './cloud-json.ts';

/** A service in the cloud, and what its refusals mean to whoever set it up. */
export interface CloudService {
  name: string;
  /** Without a slash at its end. */
  baseUrl: string;
  /** Sent as a bearer token, shown nowhere. */
  token: string;
  /** Names of the variables that hold the credential, for messages. */
  credential: string;
  mends: {
    /** 401: the credential is not known. */
    unauthorized: string;
    /** 403: it may not do this. */
    forbidden: string;
    /** 402 and 429: the account's limits. */
    quota: string;
    unreachable: string;
  };
}

export interface CloudRequest {
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  query?: Readonly<Record<string, string>>;
  json?: unknown;
  body?: FormData | Uint8Array;
  headers?: Readonly<Record<string, string>>;
  limitMs?: number;
  signal?: AbortSignal;
  /** Throws a `CloudError` where a good status came with an answer that is not whole: that may be tried again too. */
  check?(text: string): void;
}

export interface CloudClient {
  /** The body of the answer. Tried again where that may help, so the call must bear it. `path` is below the base URL, or a whole URL that the service gave. */
  ask(what: string, path: string, request?: CloudRequest): Promise<string>;
}

/** A refusal, or no answer at all (`status` null: whether anything was done is unknown). */
export class CloudError extends GatewayError {
  readonly status: number | null;

  constructor(status: number | null, message: string, options: GatewayErrorOptions) {
    super('environment_unavailable', message, options);
    this.status = status;
  }
}

const answerMs = 30_000;
const tries = 3;
const firstPauseMs = 400;
/** A service that asks for a longer pause is told of rather than waited for. */
const longestPauseMs = 20_000;
const passing: ReadonlySet<number> = new Set([408, 425, 429]);

/** Whoever did not answer in time is not waited for again: somebody waits here too. */
const isLate = (error: unknown) => error instanceof Error && error.name === 'TimeoutError';

const mayPass = ({ status }: CloudError) => status === null || passing.has(status) || status >= 500;

export function createCloudClient(service: CloudService): CloudClient {
  // Also where a service repeats it in a refusal, or a sandbox prints it.
  rememberSecret(service.token);

  async function once(what: string, path: string, request: CloudRequest): Promise<string> {
    const url = new URL(path.startsWith('http') ? path : `${service.baseUrl}${path}`);
    if (url.protocol === 'http:' && service.baseUrl.startsWith('https:')) throw unsafe(service, what, url);
    for (const [name, value] of Object.entries(request.query ?? {})) url.searchParams.set(name, value);
    const limit = AbortSignal.timeout(request.limitMs ?? answerMs);
    const signal = request.signal === undefined ? limit : AbortSignal.any([limit, request.signal]);
    let answer: Response;
    let text: string;
    try {
      answer = await fetch(url, {
        method: request.method ?? 'GET',
        headers: {
          authorization: `Bearer ${service.token}`,
          'user-agent': 'hermes-gateway',
          ...(request.json !== undefined && { 'content-type': 'application/json' }),
          ...request.headers,
        },
        ...bodyOf(request),
        // Elsewhere the credential has no business.
        redirect: 'error',
        signal,
      });
      text = await answer.text();
    } catch (error) {
      request.signal?.throwIfAborted();
      throw unreachable(service, what, url, error);
    }
    if (!answer.ok) throw refusal(service, what, answer, text);
    request.check?.(text);
    return text;
  }

  return {
    async ask(what, path, request = {}) {
      for (let left = tries - 1, pauseMs = firstPauseMs; ; left -= 1, pauseMs *= 2) {
        try {
          return await once(what, path, request);
        } catch (error) {
          if (!(error instanceof CloudError && mayPass(error)) || isLate(error.cause)) throw error;
          const askedMs = error.retryAfterMs ?? pauseMs;
          if (left <= 0 || askedMs > longestPauseMs) throw error;
          await sleep(systemClock, askedMs, request.signal);
        }
      }
    },
  };
}

function bodyOf({ json, body }: CloudRequest): { body?: string | FormData | ArrayBuffer } {
  if (json !== undefined) return { body: JSON.stringify(json) };
  if (body === undefined) return {};
  return { body: body instanceof FormData ? body : Uint8Array.from(body).buffer };
}

function unreachable(service: CloudService, what: string, url: URL, error: unknown): CloudError {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const detail = isLate(error) ? 'no answer in time' : errorMessage(cause);
  return new CloudError(null, `${service.name} cannot be reached at ${url.host} (${what}): ${detail}`, {
    retryable: true,
    mend: service.mends.unreachable,
    cause: error,
  });
}

/** The service may name an address of its own to ask; the credential does not go there in the clear. */
function unsafe({ name }: CloudService, what: string, url: URL): GatewayError {
  return new GatewayError(
    'environment_refused',
    `${name} names the address ${url.host} (${what}), which is not encrypted while its own is.`,
    { mend: 'If the server is your own, have its proxy serve https.' },
  );
}

export function refusal(service: CloudService, what: string, answer: Response, text: string): CloudError {
  const { status } = answer;
  const said = redactSecrets(saidBy(text));
  const told = said === '' ? '' : `: ${said}`;
  const make = (message: string, options: GatewayErrorOptions) => new CloudError(status, message, options);
  switch (status) {
    case 401:
      return make(`${service.name} does not know the credential in ${service.credential} (${what}).`, {
        mend: service.mends.unauthorized,
      });
    case 403:
      return make(
        `The credential in ${service.credential} may not do this at ${service.name} (${what})${told}`,
        {
          mend: service.mends.forbidden,
        },
      );
    case 402:
    case 429: {
      const retryAfterMs = Number(answer.headers.get('retry-after')) * 1_000;
      return make(`A limit of the account at ${service.name} is reached (${what})${told}`, {
        retryable: status === 429,
        mend: service.mends.quota,
        ...(status === 429 && retryAfterMs > 0 && { retryAfterMs }),
      });
    }
    default:
      return make(`${service.name} refused (${what}) with ${status}${told}`, {
        retryable: status >= 500,
        ...(status >= 500 && { mend: 'The service has trouble: try again later, or see its status page.' }),
      });
  }
}

const longestSaid = 300;

/** What services put into the body of a refusal: `{message}`, `{error: {message}}` or a text. */
function saidBy(text: string): string {
  const body = jsonOf(text);
  if (body === null) return text.trim().startsWith('<') ? '' : text.trim().slice(0, longestSaid);
  const field = (value: unknown, name: string): unknown =>
    typeof value === 'object' && value !== null && name in value
      ? Object.entries(value).find(([key]) => key === name)?.[1]
      : undefined;
  const said = [field(field(body, 'error'), 'message'), field(body, 'message'), field(body, 'error')];
  return String(said.find((value) => typeof value === 'string') ?? '').slice(0, longestSaid);
}
