import type { Api, InputFile } from 'grammy';
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
/** The Bot API, method by method. */
export type BotApi = { [Name in keyof Raw]: WithSignal<Raw[Name]> };

export interface TelegramClient {
  api: BotApi;
  transport: Transport;
  inputFile(path: string, name: string): InputFile;
  /** Path of a file below the API root. Holds the token: never show it. */
  filePath(path: string): string;
}

const uploadTimeoutSeconds = 120;

/** grammY's API, with calls that carry no file sent by our own transport. Loads grammY, which takes some 50 ms. */
export async function createClient({ token, apiRoot }: TelegramSettings): Promise<TelegramClient> {
  const grammy = await import('grammy');
  const transport = createTransport(apiRoot);
  const { raw, config } = new grammy.Api(token, { apiRoot, timeoutSeconds: uploadTimeoutSeconds });
  config.use(async (upload, method, payload, signal) => {
    if (Object.values(payload).some((value) => value instanceof grammy.InputFile))
      return upload(method, payload, signal);
    const ours = signal instanceof AbortSignal ? signal : undefined;
    return parseAnswer(await transport.post(`bot${token}/${method}`, JSON.stringify(payload), ours));
  });
  if (!takesOurSignals(raw)) throw new TypeError('grammY offers no API');
  return {
    api: raw,
    transport,
    inputFile: (path, name) => new grammy.InputFile(path, name),
    filePath: (path) => `file/bot${token}/${path}`,
  };
}

function takesOurSignals(raw: unknown): raw is BotApi {
  return typeof raw === 'object' && raw !== null;
}

/** A proxy in between may answer with a page of its own; that counts as the API's failure. */
function parseAnswer({ status, text }: { status: number; text: string }) {
  try {
    return JSON.parse(text);
  } catch {
    return {
      ok: false,
      error_code: status >= 400 ? status : 502,
      description: `HTTP ${status} without JSON`,
    };
  }
}
