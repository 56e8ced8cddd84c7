import { intro, note, outro } from '@clack/prompts';
import { applicationIdOf, inviteLink } from '../../platforms/discord/invite.ts';
import { slackManifest, slackManifestLink } from '../../platforms/slack/manifest.ts';
import { setConfigValue } from '../config/edit.ts';
import type { Config } from '../config/schema.ts';
import { type ChatPlatform, isPlatformEnabled } from '../config/views.ts';
import { checkDiscord, checkModel, checkSlack, checkSlackApp, checkTelegram } from './checks.ts';
import { setEnvValues } from './env-file.ts';
import { loadHome, makeHome } from './load.ts';
import { askOne, askSecret, askSome, askText } from './prompts.ts';

/** What one part of the wizard decided: secrets go into `.env`, the rest into `config.yaml`. */
interface Choices {
  env: Record<string, string>;
  config: [path: string, value: unknown][];
}

/** Asks for what a first start needs, checks each key by using it, and writes at the end, all or nothing. */
export async function runWizard(): Promise<void> {
  const { home, config } = await loadHome();
  intro(`hermes-gateway: settings in ${home}`);
  const parts = [await chooseModel(config), await choosePlatforms(config), await chooseTerminal(config)];
  await makeHome(home);
  const secrets = Object.assign({}, ...parts.map(({ env }) => env));
  if (Object.keys(secrets).length > 0) await setEnvValues(home, secrets);
  for (const [path, value] of parts.flatMap((part) => part.config))
    await setConfigValue({ home, env: process.env }, path, value);
  outro('Saved. `npm start` runs the gateway, `npm run doctor` checks everything once more.');
}

const openAI = 'https://api.openai.com/v1';

async function chooseModel({ model }: Config): Promise<Choices> {
  const present = model.base_url !== '' ? 'other' : model.api_key === '' ? 'demo' : 'openai';
  const where = await askOne(
    'Which model shall answer?',
    [
      { value: 'demo', label: 'The offline demo', hint: 'no key needed, a few phrases' },
      { value: 'openai', label: 'OpenAI' },
      { value: 'other', label: 'Another OpenAI-compatible address', hint: 'a provider, vLLM, Ollama …' },
    ],
    present,
  );
  if (where === 'demo') return { env: {}, config: [['model.name', 'demo']] };
  const address = where === 'openai' ? '' : await askText('Its address', model.base_url, openAI, noAddress);
  const keyQuestion = where === 'other' ? 'API key (Enter where none is needed)' : 'API key';
  const key = await askSecret(keyQuestion, model.api_key !== '', (api_key) =>
    checkModel({ api_key, base_url: address }),
  );
  const name = await askText('Name of the model', model.name === 'demo' ? '' : model.name, 'gpt-5-mini');
  return {
    env: key === null ? {} : { OPENAI_API_KEY: key },
    config: [
      ['model.base_url', address],
      ['model.name', name],
    ],
  };
}

const noAddress = (text: string) =>
  URL.canParse(text) && /^https?:/.test(text) ? undefined : `An address such as ${openAI}`;
const nothing = (text: string) => (text === '' ? 'It cannot be empty.' : undefined);

interface Secret {
  variable: string;
  message: string;
  isSet(config: Config): boolean;
  check(value: string, config: Config): Promise<string>;
}

interface PlatformQuestions {
  label: string;
  /** Shown before its keys are asked for. */
  before?: string;
  secrets: readonly Secret[];
  /** The next step once the keys are known. */
  after?(env: Readonly<Record<string, string>>): string | null;
}

const questions: { readonly [Name in ChatPlatform]: PlatformQuestions } = {
  telegram: {
    label: 'Telegram',
    before: 'Write /newbot to @BotFather; it gives you a token.',
    secrets: [
      {
        variable: 'TELEGRAM_BOT_TOKEN',
        message: 'Telegram bot token',
        isSet: ({ telegram }) => telegram.token !== '',
        check: (token, { telegram }) => checkTelegram({ ...telegram, token }),
      },
    ],
  },
  discord: {
    label: 'Discord',
    before:
      'discord.com/developers/applications → New Application → Bot:\nswitch on the Message Content Intent, then Reset Token.',
    secrets: [
      {
        variable: 'DISCORD_BOT_TOKEN',
        message: 'Discord bot token',
        isSet: ({ discord }) => discord.token !== '',
        check: (token, { discord }) => checkDiscord({ ...discord, token }),
      },
    ],
    after({ DISCORD_BOT_TOKEN: token = '' }) {
      const applicationId = applicationIdOf(token);
      return applicationId === null
        ? null
        : `Invite the bot to your server:\n${inviteLink({ applicationId })}`;
    },
  },
  slack: {
    label: 'Slack',
    before: `Open this link, press Create, then Install to workspace:\n${slackManifestLink(slackManifest({ name: 'Hermes' }))}`,
    secrets: [
      {
        variable: 'SLACK_BOT_TOKEN',
        message: 'Bot token (xoxb-…, OAuth & Permissions)',
        isSet: ({ slack }) => slack.token !== '',
        check: (token, { slack }) => checkSlack({ ...slack, token }),
      },
      {
        variable: 'SLACK_APP_TOKEN',
        message: 'App token (xapp-…, Basic Information → App-Level Tokens, connections:write)',
        isSet: ({ slack }) => slack.app_token !== '',
        check: (app_token, { slack }) => checkSlackApp({ ...slack, app_token }),
      },
    ],
  },
};

const platformNames = ['telegram', 'discord', 'slack'] as const;

async function choosePlatforms(config: Config): Promise<Choices> {
  const chosen = await askSome(
    'Where shall the bot live? (Space chooses; the web chat is always there)',
    platformNames.map((value) => ({ value, label: questions[value].label })),
    platformNames.filter((name) => isPlatformEnabled(config, name)),
  );
  const choices: Choices = { env: {}, config: [] };
  for (const name of chosen) {
    const { env, config: keys } = await choosePlatform(name, config);
    Object.assign(choices.env, env);
    choices.config.push(...keys);
  }
  const preset = await chooseTools();
  for (const name of [...chosen, 'web'])
    choices.config.push([`platform_toolsets.${name}`, [preset === 'all' ? `hermes-${name}` : preset]]);
  return choices;
}

async function choosePlatform(name: ChatPlatform, config: Config): Promise<Choices> {
  const { label, before, secrets, after } = questions[name];
  if (before !== undefined) note(before, label);
  const env: Record<string, string> = {};
  for (const { variable, message, isSet, check } of secrets) {
    const value = await askSecret(message, isSet(config), (typed) => check(typed, config));
    if (value !== null) env[variable] = value;
  }
  const next = after?.(env) ?? null;
  if (next !== null) note(next, label);
  const people = await askText(
    `Who may use it on ${label}? User ids, comma separated; empty: strangers get a code for you to approve`,
    config[name].allowed_users.join(', '),
  );
  const ids = people
    .split(',')
    .map((id) => id.trim())
    .filter((id) => id !== '');
  return { env, config: [[`${name}.allowed_users`, ids]] };
}

function chooseTools(): Promise<'all' | 'coding' | 'safe'> {
  return askOne(
    'What may it do there?',
    [
      { value: 'all', label: 'Everything', hint: 'dangerous commands wait for your tap' },
      { value: 'coding', label: 'Coding', hint: 'commands, files, the web; no schedules, speech or home' },
      { value: 'safe', label: 'Nothing that touches this machine', hint: 'the web and images' },
    ],
    'all',
  );
}

async function chooseTerminal({ terminal }: Config): Promise<Choices> {
  const backend = await askOne(
    'Where shall its commands run?',
    [
      { value: 'local', label: 'On this machine' },
      { value: 'docker', label: 'In a Docker container' },
      { value: 'ssh', label: 'On another machine, by SSH' },
      { value: 'present', label: `As it is set now (${terminal.backend})` },
    ],
    terminal.backend === 'docker' || terminal.backend === 'ssh' || terminal.backend === 'local'
      ? terminal.backend
      : 'present',
  );
  if (backend === 'present') return { env: {}, config: [] };
  const config: Choices['config'] = [['terminal.backend', backend]];
  if (backend === 'ssh') {
    config.push([
      'terminal.ssh_host',
      await askText('Its host name', terminal.ssh_host, 'build.example.org', nothing),
    ]);
    config.push(['terminal.ssh_user', await askText('User there', terminal.ssh_user, 'hermes', nothing)]);
  }
  return { env: {}, config };
}
