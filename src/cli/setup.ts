import { applicationIdOf, inviteLink } from '../../platforms/discord/invite.ts';
import { slackManifest, slackManifestLink } from '../../platforms/slack/manifest.ts';
import { GatewayError } from '../errors.ts';
import { loadHome } from './load.ts';
import type { DiscordSetupFlags, SlackSetupFlags } from './main.ts';
import { print, printJson } from './print.ts';

/** `setup discord` prints the invite link. */
export async function setupDiscord({ app, moderation = false }: DiscordSetupFlags): Promise<void> {
  const applicationId = app ?? applicationIdOf((await loadHome()).config.discord.token);
  if (applicationId === null || !/^\d{15,20}$/.test(applicationId)) {
    throw new GatewayError('usage', 'The link needs the id of your Discord application.', {
      mend: 'Set DISCORD_BOT_TOKEN first, or give the Application ID of discord.com/developers/applications: setup discord --app ID',
    });
  }
  print('Open this link and choose your server:');
  print(`\n  ${inviteLink({ applicationId, moderation })}\n`);
  print(
    'Before the first start, switch on the Message Content Intent: discord.com/developers/applications → Bot.',
  );
}

/** `setup slack` prints the app manifest, and a link that opens Slack with it filled in. */
export async function setupSlack({ name, url, json = false }: SlackSetupFlags): Promise<void> {
  if (url !== undefined && !(URL.canParse(url) && new URL(url).protocol === 'https:')) {
    throw new GatewayError('usage', `"${url}" is no https address.`, {
      mend: 'Give the address under which Slack reaches this gateway, such as --url https://bot.example.org',
    });
  }
  const manifest = slackManifest({ name, ...(url !== undefined && { publicUrl: url }) });
  if (json) return printJson(manifest);
  print('Open this link, press Create, then Install to workspace:');
  print(`\n  ${slackManifestLink(manifest)}\n`);
  print('Or paste this manifest at api.slack.com/apps → Create New App → From a manifest:\n');
  printJson(manifest);
}

/** `setup` alone: a short wizard, for a person at a terminal. */
export async function setupAll(): Promise<void> {
  if (!process.stdin.isTTY || !process.stdout.isTTY) {
    throw new GatewayError('usage', 'setup asks questions and needs a terminal.', {
      mend: 'Without one, copy .env.example to <home>/.env and fill it in; `hermes-gateway doctor` checks it.',
    });
  }
  await (await import('./setup-wizard.ts')).runWizard();
}
