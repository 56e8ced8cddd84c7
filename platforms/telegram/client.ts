import type { Api, InputFile } from 'grammy';
import { BotApiError } from './errors.ts';
import type { TelegramSettings } from './options.ts';
import { createTransport, type Transport } from './transport.ts';

type Raw = Api['raw'];
type GrammySignal = NonNullable<Parameters<Api['getMe']>[0]>;
/** A method that takes the platform's `AbortSignal`; grammY's types name a look-alike from before there was one. */
type WithSignal<Method> = Method extends (signal?: GrammySignal) => infer Answer
  ? (signal?: AbortSignal) => Answer
  : Method extends (args: infer Args, signal?: GrammySignal) => infer Answer
    ? (args: Args, signal?: AbortSignal) => Answer
    : never;
/** The Bot API, method by method, as grammY's types describe it. */
export type BotApi = { [Name in keyof Raw]: WithSignal<Raw[Name]> };

export interface TelegramClient {
  /** Calls that carry no file. They reject with a `BotApiError` or a `TransportError`. */
  api: BotApi;
  /** grammY's client, for calls with files; loaded with the first of them. */
  uploads(): Promise<Uploads>;
  transport: Transport;
  /** Path of a file below the API root. Holds the token: never show it. */
  filePath(path: string): string;
}

export interface Uploads {
  api: BotApi;
  inputFile(path: string, name: string): InputFile;
}

const uploadTimeoutSeconds = 120;

/**
 * The Bot API by our own transport. grammY, which costs 50 ms and 17 MB to load, is left to what is hard: streaming
 * files (docs/decisions/004-telegram-transport.md).
 */
export function createClient({ token, apiRoot }: TelegramSettings): TelegramClient {
  const transport = createTransport(apiRoot);
  let uploads: Promise<Uploads> | null = null;

  async function call(method: string, args: unknown, signal: AbortSignal | undefined): Promise<unknown> {
    const { status, text } = await transport.post(
      `bot${token}/${method}`,
      JSON.stringify(args ?? {}),
      signal,
    );
    return readAnswer(status, text);
  }

  const api = new Proxy(
    {},
    {
      get(_target, method) {
        // A method without arguments takes its signal first.
        return (args: unknown, signal?: AbortSignal) =>
          args instanceof AbortSignal ? call(String(method), {}, args) : call(String(method), args, signal);
      },
    },
  );

  return {
    api: asBotApi(api),
    uploads() {
      uploads ??= loadUploads(token, apiRoot);
      return uploads;
    },
    transport,
    filePath: (path) => `file/bot${token}/${path}`,
  };
}

async function loadUploads(token: string, apiRoot: string): Promise<Uploads> {
  const grammy = await import('grammy');
  const { raw } = new grammy.Api(token, { apiRoot, timeoutSeconds: uploadTimeoutSeconds });
  return { api: asBotApi(raw), inputFile: (path, name) => new grammy.InputFile(path, name) };
}

/** The border where an object that answers to every method's name gets the types of the methods. */
function asBotApi(api: object): BotApi {
  if (!isBotApi(api)) throw new TypeError('no API');
  return api;
}

function isBotApi(api: unknown): api is BotApi {
  return typeof api === 'object' && api !== null;
}

/** A proxy in between may answer with a page of its own; that counts as the API's failure. */
function readAnswer(status: number, text: string): unknown {
  const answer = parse(text);
  if (answer?.ok === true) return answer.result;
  throw new BotApiError({
    error_code: answer?.error_code ?? (status >= 400 ? status : 502),
    description: answer?.description ?? `HTTP ${status} without an answer`,
    parameters: answer?.parameters ?? {},
  });
}

interface Answer {
  ok?: boolean;
  result?: unknown;
  error_code?: number;
  description?: string;
  parameters?: BotApiError['parameters'];
}

function parse(text: string): Answer | null {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
