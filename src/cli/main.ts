import { Command, InvalidArgumentError } from 'commander';
import { exitCodeOf, explain, wrongUsageExitCode } from './exit.ts';

/**
 * The command line. Each command is a file beside this one, loaded when it is used; `--help` needs none of them.
 */
const program = new Command('hermes-gateway')
  .description(
    'One AI agent behind Telegram, Discord, Slack and a web chat. Dangerous commands wait for your tap.',
  )
  .version(process.env['npm_package_version'] ?? '0.1.0')
  .showHelpAfterError('(hermes-gateway --help lists the commands)')
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : wrongUsageExitCode));

const port = (text: string) => {
  const number = Number(text);
  if (Number.isInteger(number) && number >= 0 && number < 65_536) return number;
  throw new InvalidArgumentError('It is a number from 0 to 65535.');
};

const words = (text: string) =>
  text
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '');

program
  .command('start')
  .description('run the gateway in the foreground')
  .option('-c, --config <file>', 'another file than <home>/config.yaml')
  .option('-p, --port <number>', 'port of the web chat', port)
  .option('--yolo', 'run dangerous commands without asking (forbidden ones never run)')
  .action(async (options: StartFlags) => (await import('./start.ts')).start(options));

program
  .command('chat')
  .description('talk to the agent in this terminal')
  .option('-q, --query <text>', 'ask once, print the answer, end')
  .option('-t, --toolsets <names>', 'toolsets, comma separated', words)
  .action(async (options: ChatFlags) => (await import('./chat.ts')).chat(options));

program
  .command('status')
  .description('what the running gateway does')
  .option('--json', 'for programs')
  .action(async (options: { json?: boolean }) => (await import('./status.ts')).status(options));

program
  .command('doctor')
  .description('check this machine, the configuration, keys and platforms')
  .option('--json', 'for programs')
  .action(async (options: { json?: boolean }) => (await import('./doctor.ts')).doctor(options));

const setup = program
  .command('setup')
  .description('a wizard: model, platforms, who may use them, tools, terminal')
  .action(async () => (await import('./setup.ts')).setupAll());
setup
  .command('discord')
  .description('the link that lets the bot into a server')
  .option('--app <id>', 'the Application ID, where no token is set yet')
  .option('--moderation', 'also ask for the rights of the discord_admin tool')
  .action(async (options: DiscordSetupFlags) => (await import('./setup.ts')).setupDiscord(options));
setup
  .command('slack')
  .description('the manifest of the Slack app, and a link with it filled in')
  .option('--name <name>', 'name of the app and its bot', 'Hermes')
  .option('--url <address>', 'public https address of this gateway, instead of Socket Mode')
  .option('--json', 'the manifest alone')
  .action(async (options: SlackSetupFlags) => (await import('./setup.ts')).setupSlack(options));

const toolsets = program.command('toolsets').description('which tools a toolset or a platform has');
toolsets
  .command('list')
  .description('every toolset')
  .option('--json', 'for programs')
  .action(async (options: { json?: boolean }) => (await import('./toolsets.ts')).listToolsets(options));
toolsets
  .command('show <name>')
  .description('the tools of a toolset, and what is not offered and why')
  .option('--json', 'for programs')
  .action(async (name: string, options: { json?: boolean }) =>
    (await import('./toolsets.ts')).showToolset(name, options),
  );
toolsets
  .command('platform <platform>')
  .description('the tools that new sessions of a platform get')
  .option('--json', 'for programs')
  .action(async (platform: string, options: { json?: boolean }) =>
    (await import('./toolsets.ts')).showPlatform(platform, options),
  );

program
  .command('tools')
  .description('every registered tool')
  .command('list', { isDefault: true })
  .description('each with its toolset, and what it lacks')
  .option('--json', 'for programs')
  .action(async (options: { json?: boolean }) => (await import('./tools.ts')).listTools(options));

const approvals = program.command('approvals').description('verdicts, the allowlist and the audit');
approvals
  .command('check [command]')
  .description('the verdict on a command; with --json reads JSON Lines from standard input')
  .option('--json', 'for programs')
  .option('--cwd <dir>', 'where it would run')
  .action(async (command: string | undefined, options: CheckFlags) =>
    (await import('./approvals-check.ts')).checkCommands(command, options),
  );
approvals
  .command('list')
  .description('what is always allowed')
  .action(async () => (await import('./approvals.ts')).listAllowed());
approvals
  .command('allow <pattern>')
  .description('allow an exact command, a glob or a category entry from now on')
  .action(async (pattern: string) => (await import('./approvals.ts')).allow(pattern));
approvals
  .command('forget <pattern>')
  .description('ask about it again')
  .action(async (pattern: string) => (await import('./approvals.ts')).forget(pattern));
approvals
  .command('audit')
  .description('what was asked, decided and run')
  .option('--verify', 'check the hash chain')
  .option('--json', 'for programs')
  .action(async (options: { verify?: boolean; json?: boolean }) =>
    (await import('./approvals.ts')).audit(options),
  );

program
  .command('terminal')
  .description('where commands run')
  .command('try [backend]')
  .description('open a terminal backend, run the basics, say what was seen')
  .action(async (backend: string | undefined) => (await import('./terminal.ts')).tryTerminal(backend));

const config = program.command('config').description('the configuration');
config
  .command('check')
  .description('read it and say what is wrong')
  .action(async () => (await import('./config.ts')).check());
config
  .command('schema')
  .description('a JSON Schema for editors')
  .action(async () => (await import('./config.ts')).schema());
config
  .command('get [key]')
  .description('a value in force, and where it came from')
  .action(async (key: string | undefined) => (await import('./config.ts')).get(key));
config
  .command('set <key> <value>')
  .description('change config.yaml, comments kept')
  .action(async (key: string, value: string) => (await import('./config.ts')).set(key, value));

const pair = program.command('pair').description('let people in by a code');
pair
  .command('list')
  .description('who is paired, and who waits')
  .action(async () => (await import('./pair.ts')).list());
pair
  .command('approve <platform> <code>')
  .description('let in whom the bot gave this code')
  .action(async (platform: string, code: string) => (await import('./pair.ts')).approve(platform, code));
pair
  .command('revoke <platform> <user>')
  .description('take a pairing back')
  .action(async (platform: string, user: string) => (await import('./pair.ts')).revoke(platform, user));

const sessions = program.command('sessions').description('transcripts');
sessions
  .command('list')
  .description('the latest 200')
  .action(async () => (await import('./sessions.ts')).list());
sessions
  .command('show <key>')
  .description('a transcript to read')
  .action(async (key: string) => (await import('./sessions.ts')).show(key));
sessions
  .command('search <text>')
  .description('look for words in all transcripts')
  .action(async (text: string) => (await import('./sessions.ts')).search(text));
sessions
  .command('export <key>')
  .description('a session and its transcript as JSON')
  .action(async (key: string) => (await import('./sessions.ts')).exportJson(key));

export interface StartFlags {
  config?: string;
  port?: number;
  yolo?: boolean;
}

export interface ChatFlags {
  query?: string;
  toolsets?: string[];
}

export interface CheckFlags {
  json?: boolean;
  cwd?: string;
}

export interface DiscordSetupFlags {
  app?: string;
  moderation?: boolean;
}

export interface SlackSetupFlags {
  name: string;
  url?: string;
  json?: boolean;
}

// Who reads the output may leave early (`tools list | head`): no error, and no reason for a gateway to end.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}

try {
  await program.parseAsync();
} catch (error) {
  console.error(explain(error));
  // What a start opened before it failed must not keep the process.
  process.exit(exitCodeOf(error));
}
