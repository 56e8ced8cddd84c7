import { afterEach, describe, expect, it } from 'vitest';
import {
  checkDiscord,
  checkModel,
  checkSlack,
  checkSlackApp,
  checkTelegram,
} from '../../../../src/cli/checks.ts';
import { type DiscordEmulator, startDiscordEmulator } from '../../../emulators/discord/discord-emulator.ts';
import { answerJson, startHttp } from '../../../emulators/emulator.ts';
import { createOpenAIEmulator } from '../../../emulators/openai/emulator.ts';
import { type SlackEmulator, startSlackEmulator } from '../../../emulators/slack/slack-emulator.ts';
import { startTelegramEmulator } from '../../../emulators/telegram/telegram-emulator.ts';

describe('the checks of keys', () => {
  const open: { close(): Promise<void> }[] = [];
  afterEach(async () => {
    await Promise.all(open.splice(0).map((emulator) => emulator.close()));
  });
  async function opened<T extends { close(): Promise<void> }>(starting: Promise<T>): Promise<T> {
    const emulator = await starting;
    open.push(emulator);
    return emulator;
  }

  it('name the Telegram bot, or say that the token is unknown', async () => {
    const { token, apiRoot: api_root } = await opened(startTelegramEmulator());
    expect(await checkTelegram({ token, api_root })).toBe('@hermes_test_bot answers');
    await expect(checkTelegram({ token: '1:wrong', api_root })).rejects.toMatchObject({
      code: 'token_invalid',
    });
    await expect(checkTelegram({ token: '../x?', api_root })).rejects.toMatchObject({
      code: 'token_invalid',
    });
  });

  it('say why an address cannot be reached', async () => {
    const gone = await startTelegramEmulator();
    await gone.close();
    await expect(checkTelegram({ token: gone.token, api_root: gone.apiRoot })).rejects.toMatchObject({
      code: 'platform_unreachable',
      message: expect.stringContaining('ECONNREFUSED'),
      mend: expect.any(String),
    });
  });

  describe('of Discord', () => {
    const botOf = ({ token, apiRoot }: DiscordEmulator) => ({ token, api_root: apiRoot });

    it('hold with a known token and the intent', async () => {
      expect(await checkDiscord(botOf(await opened(startDiscordEmulator())))).toContain('may read messages');
    });

    it('tell an unknown token from a missing intent', async () => {
      const discord = await opened(startDiscordEmulator());
      await expect(checkDiscord({ ...botOf(discord), token: 'wrong' })).rejects.toMatchObject({
        code: 'token_invalid',
      });
      discord.world.privilegedIntents = 0;
      await expect(checkDiscord(botOf(discord))).rejects.toMatchObject({ code: 'intent_missing' });
    });
  });

  describe('of Slack', () => {
    const botOf = ({ team, apiRoot }: SlackEmulator) => ({ token: team.botToken, api_root: apiRoot });

    it('hold with the tokens of a freshly installed app, one a workspace', async () => {
      const slack = await opened(startSlackEmulator());
      const { botToken } = slack.addTeam('Other');
      const token = `${slack.team.botToken}, ${botToken}`;
      expect(await checkSlack({ token, api_root: slack.apiRoot })).toContain('every scope');
      const app = { app_token: slack.appToken, api_root: slack.apiRoot };
      expect(await checkSlackApp(app)).toBe('the socket can be opened');
    });

    it('name a scope that is missing, and what fails without it', async () => {
      const slack = await opened(startSlackEmulator());
      slack.team.scopes = slack.team.scopes.filter((scope) => scope !== 'files:write');
      await expect(checkSlack(botOf(slack))).rejects.toThrow('files:write (to send files)');
    });

    it('say which of the two tokens is refused', async () => {
      const { apiRoot: api_root } = await opened(startSlackEmulator());
      await expect(checkSlack({ token: 'xoxb-wrong', api_root })).rejects.toThrow('the bot token');
      await expect(checkSlackApp({ app_token: 'xapp-wrong', api_root })).rejects.toThrow('the app token');
    });

    it('take a page of a proxy for no answer', async () => {
      const slack = await opened(startSlackEmulator());
      slack.fail('auth.test', { page: '<html>sign in</html>' });
      await expect(checkSlack(botOf(slack))).rejects.toMatchObject({ code: 'platform_unreachable' });
    });
  });

  it('tell a model that refuses the key from one that is not there, and print no key', async () => {
    const model = await opened(createOpenAIEmulator());
    expect(await checkModel({ base_url: model.url, api_key: 'k' })).toContain('answers (200)');
    const closed = await opened(startHttp(async (_request, response) => answerJson(response, 401, {})));
    const addresses = { model_unauthorized: closed.url, platform_unreachable: 'http://127.0.0.1:1' };
    for (const [code, base_url] of Object.entries(addresses)) {
      const checking = checkModel({ base_url, api_key: 'sk-secret' });
      await expect(checking).rejects.toMatchObject({ code });
      await expect(checking).rejects.not.toThrow('sk-secret');
    }
  });
});
