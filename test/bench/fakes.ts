import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { z } from 'zod';

/** The counterparts of the gateway, in processes of their own so that their work is not counted as its. */
export interface Fakes {
  /** What the gateway needs to meet them. */
  env: Record<string, string>;
  /** Plays people at Telegram: a wish of test/emulators/telegram/control.ts. */
  telegram<T extends z.ZodType>(wish: Record<string, unknown>, answer: T): Promise<z.infer<T>>;
  /** How long the model's server held each request since the last look, oldest first (ms). */
  held(): Promise<number[]>;
  stop(): void;
}

const telegramSaid = z.object({ apiRoot: z.string(), token: z.string(), control: z.string() });
const modelSaid = z.object({ url: z.string() });
const heldList = z.array(z.object({ heldMs: z.number() }));

export async function startFakes(): Promise<Fakes> {
  const [telegram, model] = await Promise.all([
    startFake('test/emulators/telegram/main.ts', telegramSaid),
    startFake('test/emulators/openai/main.ts', modelSaid),
  ]);
  return {
    env: {
      TELEGRAM_BOT_TOKEN: telegram.said.token,
      TELEGRAM_API_ROOT: telegram.said.apiRoot,
      OPENAI_BASE_URL: model.said.url,
      OPENAI_API_KEY: 'sk-bench',
      HERMES_MODEL: 'instant',
      GATEWAY_ALLOW_ALL_USERS: 'true',
      LOG_LEVEL: 'warn',
    },
    async telegram(wish, answer) {
      const response = await fetch(telegram.said.control, { method: 'POST', body: JSON.stringify(wish) });
      if (!response.ok) throw new Error(`the Telegram emulator: ${await response.text()}`);
      return answer.parse(await response.json());
    },
    async held() {
      const response = await fetch(`${model.said.url}/held`);
      return heldList.parse(await response.json()).map(({ heldMs }) => heldMs);
    },
    stop() {
      telegram.stop();
      model.stop();
    },
  };
}

/** Runs an emulator's main.ts; resolves once it has printed its line of JSON. */
async function startFake<T extends z.ZodType>(
  script: string,
  schema: T,
): Promise<{ said: z.infer<T>; stop(): void }> {
  const child = spawn(process.execPath, [script], {
    env: { PATH: process.env['PATH'] ?? '', RECORD: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const stop = () => void child.kill('SIGTERM');
  process.once('exit', stop);
  for await (const line of createInterface({ input: child.stdout }))
    return { said: schema.parse(JSON.parse(line)), stop };
  throw new Error(`${script} ended before it listened`);
}
