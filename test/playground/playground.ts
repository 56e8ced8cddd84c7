import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDiscord } from '../e2e/scenario/discord-stage.ts';
import { openSlack } from '../e2e/scenario/slack-stage.ts';
import { openTelegram } from '../e2e/scenario/telegram-stage.ts';
import { startGatewayProcess } from '../e2e/support/gateway-process.ts';
import { createColumn } from './column.ts';
import { startPageServer } from './page-server.ts';

export interface Playground {
  url: string;
  /** What the platforms held against the bot's calls. */
  violations(): string[];
  stop(): Promise<void>;
}

/** Something to look at, to read and to delete. */
const sampleFiles: Readonly<Record<string, string>> = {
  'notes.txt': 'Buy oat milk.\nCall the plumber.\n',
  'src/hello.ts': "console.log('hello'); // TODO: say it in Greek\n",
  'build/hello.js': "console.log('hello');\n",
  'dist/hello.tgz': 'a package\n',
  'coverage/index.html': '<h1>100 %</h1>\n',
};

const config = `
approvals: {timeout: 900}
display: {platforms: {slack: {tool_progress: all}}}
`;

/** The three emulators, the gateway with its demo model on a temporary home, and a page to play the people. */
export async function startPlayground(port = 0): Promise<Playground> {
  const home = await mkdtemp(join(tmpdir(), 'hermes-playground-'));
  for (const [name, content] of Object.entries(sampleFiles)) {
    await mkdir(join(home, name, '..'), { recursive: true });
    await writeFile(join(home, name), content);
  }
  await writeFile(join(home, 'config.yaml'), config);
  const platforms = await Promise.all([openTelegram(), openDiscord(), openSlack()]);
  const gateway = await startGatewayProcess({
    home,
    env: {
      ...Object.assign({}, ...platforms.map(({ env }) => env)),
      HERMES_MODEL: 'demo',
      GATEWAY_ALLOW_ALL_USERS: 'true',
    },
  });
  const page = await startPageServer(platforms.map(createColumn), port);
  return {
    url: page.url,
    violations: () => platforms.flatMap(({ violations }) => violations()),
    async stop() {
      await page.close();
      await gateway.stop();
      await gateway.dispose();
      await Promise.all(platforms.map((platform) => platform.close()));
    },
  };
}
