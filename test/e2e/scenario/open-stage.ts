import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createOpenAIEmulator, type OpenAIEmulator } from '../../emulators/openai/emulator.ts';
import { type GatewayProcess, startGatewayProcess } from '../support/gateway-process.ts';
import { scriptedReply } from './script.ts';
import type { StageMessage, StagePlace, StagePlatform } from './stage.ts';
import { untilFound } from './until.ts';

/** The gateway as a process, connected to one platform and to a model that says what it is told to. */
export interface Stage<Opened extends StagePlatform = StagePlatform> {
  platform: Opened;
  gateway: GatewayProcess;
  model: OpenAIEmulator;
  /** A folder that is not the gateway's own. */
  folder: string;
  until: {
    /** The newest message of the bot in the place that holds the text. */
    botShows(text: string | RegExp, place: StagePlace, timeoutMs?: number): Promise<StageMessage>;
    /** True at last. */
    holds(what: string, condition: () => boolean, timeoutMs?: number): Promise<void>;
  };
  close(): Promise<void>;
}

/** Messages wait behind a turn, and every platform shows what the agent does. */
const config = `
display:
  busy_input_mode: queue
  tool_progress: all
  platforms: {slack: {tool_progress: all}}
`;

export async function openStage<Opened extends StagePlatform>(
  open: () => Promise<Opened>,
  moreConfig = '',
): Promise<Stage<Opened>> {
  const home = await mkdtemp(join(tmpdir(), 'hermes-scenario-'));
  const folder = await mkdtemp(join(tmpdir(), 'hermes-files-'));
  await writeFile(join(home, 'config.yaml'), config + moreConfig);
  const [platform, model] = await Promise.all([open(), createOpenAIEmulator({ answer: scriptedReply })]);
  const gateway = await startGatewayProcess({
    home,
    env: {
      ...platform.env,
      OPENAI_BASE_URL: model.url,
      OPENAI_API_KEY: 'a-key-for-tests',
      GATEWAY_ALLOW_ALL_USERS: 'true',
    },
  });

  const describe = (place?: StagePlace) =>
    [
      ...(place === undefined ? [] : platform.shown(place).map(({ text }) => text.slice(0, 300))),
      ...platform.violations().map((violation) => `VIOLATION ${violation}`),
      gateway.log().split('\n').slice(-12).join('\n'),
    ].join('\n');

  return {
    platform,
    gateway,
    model,
    folder,
    until: {
      botShows(text, place, timeoutMs) {
        const fits = (shown: string) => (typeof text === 'string' ? shown.includes(text) : text.test(shown));
        const look = () => platform.shown(place).findLast((message) => fits(message.text));
        return untilFound(`the bot to show ${text}`, look, () => describe(place), timeoutMs);
      },
      async holds(what, condition, timeoutMs) {
        await untilFound(what, () => (condition() ? true : undefined), describe, timeoutMs);
      },
    },
    async close() {
      await gateway.dispose();
      await Promise.all([platform.close(), model.close()]);
      await rm(folder, { recursive: true, force: true });
    },
  };
}
