import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { z } from 'zod';

export type PlatformName = 'telegram' | 'discord' | 'slack';

/** The counterparts of the gateway, in processes of their own so that their work is not counted as its. */
export interface Fakes {
  /** What the gateway needs to meet them. */
  env: Record<string, string>;
  /** Plays people at a platform: a wish of its emulator's control.ts. */
  play<T extends z.ZodType>(
    platform: PlatformName,
    wish: Record<string, unknown>,
    answer: T,
  ): Promise<z.infer<T>>;
  /** `play` at Telegram. */
  telegram<T extends z.ZodType>(wish: Record<string, unknown>, answer: T): Promise<z.infer<T>>;
  /** How long the model's server held each request since the last look, oldest first (ms). */
  held(): Promise<number[]>;
  stop(): void;
}

const platformSaid = z.looseObject({ apiRoot: z.string(), control: z.string() });
const tokens: Readonly<Record<PlatformName, Readonly<Record<string, string>>>> = {
  telegram: { TELEGRAM_API_ROOT: 'apiRoot', TELEGRAM_BOT_TOKEN: 'token' },
  discord: { DISCORD_API_ROOT: 'apiRoot', DISCORD_BOT_TOKEN: 'token' },
  slack: { SLACK_API_ROOT: 'apiRoot', SLACK_BOT_TOKEN: 'botToken', SLACK_APP_TOKEN: 'appToken' },
};
const modelSaid = z.object({ url: z.string() });
const heldList = z.array(z.object({ heldMs: z.number() }));

export async function startFakes(platforms: readonly PlatformName[] = ['telegram']): Promise<Fakes> {
  const [model, ...people] = await Promise.all([
    startFake('test/emulators/openai/main.ts', modelSaid),
    ...platforms.map(async (name) => ({
      name,
      ...(await startFake(`test/emulators/${name}/main.ts`, platformSaid)),
    })),
  ]);
  const platformEnv = people.flatMap(({ name, said }) =>
    Object.entries(tokens[name]).map(([variable, field]) => [variable, String(said[field])]),
  );
  const play: Fakes['play'] = async (platform, wish, answer) => {
    const control = people.find(({ name }) => name === platform)?.said.control;
    if (control === undefined) throw new Error(`no ${platform} emulator was started`);
    const response = await fetch(control, { method: 'POST', body: JSON.stringify(wish) });
    if (!response.ok) throw new Error(`the ${platform} emulator: ${await response.text()}`);
    return answer.parse(await response.json());
  };
  return {
    env: {
      ...Object.fromEntries(platformEnv),
      OPENAI_BASE_URL: model.said.url,
      OPENAI_API_KEY: 'sk-bench',
      HERMES_MODEL: 'instant',
      GATEWAY_ALLOW_ALL_USERS: 'true',
      LOG_LEVEL: 'warn',
    },
    play,
    telegram: (wish, answer) => play('telegram', wish, answer),
    async held() {
      const response = await fetch(`${model.said.url}/held`);
      return heldList.parse(await response.json()).map(({ heldMs }) => heldMs);
    },
    stop() {
      for (const { stop } of [model, ...people]) stop();
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
  const stop = () => {
    process.off('exit', stop);
    child.kill('SIGTERM');
  };
  process.once('exit', stop);
  for await (const line of createInterface({ input: child.stdout }))
    return { said: schema.parse(JSON.parse(line)), stop };
  throw new Error(`${script} ended before it listened`);
}
