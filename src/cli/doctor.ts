import { statfs } from 'node:fs/promises';
import type { Config } from '../config/schema.ts';
import { isPlatformEnabled } from '../config/views.ts';
import { errorMessage, GatewayError } from '../errors.ts';
import { silentLog } from '../log.ts';
import { usesDemoModel } from '../model/index.ts';
import { redactSecrets } from '../redact.ts';
import { explain } from './exit.ts';
import { type Loaded, loadHome, makeHome } from './load.ts';
import { print, printJson } from './print.ts';
import { terminalOptionsOf } from './terminal-options.ts';

export interface Finding {
  check: string;
  ok: boolean;
  says: string;
  /** The step that mends it. */
  mend?: string;
}

const callTimeoutMs = 10_000;
const leastFreeBytes = 500 * 1024 * 1024;

/** Checks what the gateway needs, each by really using it; exit 1 when something is wrong. */
export async function doctor({ json }: { json?: boolean }): Promise<void> {
  const findings = await examine();
  if (json) printJson(findings);
  else {
    for (const { check, ok, says, mend } of findings) {
      print(`${ok ? '✓' : '✗'} ${check}: ${says}`);
      if (mend !== undefined) print(`    ${mend}`);
    }
  }
  if (findings.some((finding) => !finding.ok)) process.exitCode = 1;
}

async function examine(): Promise<Finding[]> {
  const findings: Finding[] = [{ check: 'node', ok: true, says: process.version }];
  let loaded: Loaded;
  try {
    loaded = await loadHome();
  } catch (error) {
    return [...findings, failed('config', error)];
  }
  const { config, home, file, warnings } = loaded;
  findings.push({ check: 'config', ok: true, says: file });
  for (const warning of warnings) findings.push({ check: 'config', ok: true, says: `warning: ${warning}` });
  const checks: Promise<Finding>[] = [
    attempt('home', () => checkHome(home)),
    attempt('model', () => checkModel(config)),
    attempt('terminal', () => checkTerminal(loaded)),
  ];
  if (isPlatformEnabled(config, 'telegram')) checks.push(attempt('telegram', () => checkTelegram(config)));
  if (isPlatformEnabled(config, 'discord')) checks.push(attempt('discord', () => checkDiscord(config)));
  if (isPlatformEnabled(config, 'slack')) checks.push(attempt('slack', () => checkSlack(config)));
  return [...findings, ...(await Promise.all(checks)), approversFinding(config)];
}

async function attempt(check: string, work: () => Promise<string>): Promise<Finding> {
  try {
    return { check, ok: true, says: await work() };
  } catch (error) {
    return failed(check, error);
  }
}

function failed(check: string, error: unknown): Finding {
  const mend = error instanceof GatewayError ? error.mend : undefined;
  const says = error instanceof GatewayError ? error.message : explain(error);
  return { check, ok: false, says: redactSecrets(says), ...(mend && { mend }) };
}

async function checkHome(home: string): Promise<string> {
  await makeHome(home);
  const { bavail, bsize } = await statfs(home);
  const free = bavail * bsize;
  if (free < leastFreeBytes) {
    throw new GatewayError('store_full', `${home} has only ${Math.round(free / 1e6)} MB left.`, {
      mend: 'Free some disk space.',
    });
  }
  return `${home}, ${Math.round(free / 1e9)} GB free`;
}

async function checkModel(config: Config): Promise<string> {
  if (usesDemoModel(config)) return 'the offline demo model; set OPENAI_API_KEY for a real one';
  const base = config.model.base_url || 'https://api.openai.com/v1';
  const response = await call(`${base.replace(/\/$/, '')}/models`, {
    authorization: `Bearer ${config.model.api_key}`,
  });
  if (response.status === 401 || response.status === 403) {
    throw new GatewayError('model_unauthorized', `${base} refuses the key (${response.status}).`, {
      mend: 'Check OPENAI_API_KEY.',
    });
  }
  return `${base} answers (${response.status})`;
}

async function checkTelegram({ telegram }: Config): Promise<string> {
  const root = telegram.api_root || 'https://api.telegram.org';
  const response = await call(`${root}/bot${telegram.token}/getMe`);
  if (response.status === 401 || response.status === 404) {
    throw new GatewayError('token_invalid', 'Telegram does not know this token.', {
      mend: 'Copy it again from @BotFather into TELEGRAM_BOT_TOKEN.',
    });
  }
  return `the bot answers (${response.status})`;
}

async function checkDiscord({ discord }: Config): Promise<string> {
  const root = discord.api_root || 'https://discord.com/api';
  const response = await call(`${root}/v10/users/@me`, { authorization: `Bot ${discord.token}` });
  if (response.status === 401) {
    throw new GatewayError('token_invalid', 'Discord does not know this token.', {
      mend: 'Copy it again from the developer portal (Bot → Reset Token) into DISCORD_BOT_TOKEN.',
    });
  }
  return `the bot answers (${response.status})`;
}

async function checkSlack({ slack }: Config): Promise<string> {
  const root = slack.api_root || 'https://slack.com/api/';
  for (const token of slack.token.split(',')) {
    const response = await call(
      `${root.replace(/\/?$/, '/')}auth.test`,
      { authorization: `Bearer ${token.trim()}` },
      'POST',
    );
    const body: unknown = await response.json();
    if (typeof body === 'object' && body !== null && 'ok' in body && body.ok === true) continue;
    throw new GatewayError('token_invalid', 'Slack refuses the bot token.', {
      mend: 'Install the app to the workspace again and copy the xoxb token into SLACK_BOT_TOKEN.',
    });
  }
  return 'the bot answers';
}

/** Opens the terminal backend and runs a command in it. */
async function checkTerminal({ config, home, env }: Loaded): Promise<string> {
  const { checkBackend } = await import('../../tools/environments/try-backend.ts');
  const { installIdOf } = await import('../../tools/environments/index.ts');
  const context = { taskId: 'doctor', installId: installIdOf(home), log: silentLog, env };
  const [finding] = await checkBackend(terminalOptionsOf(config, home), context);
  if (finding?.level === 'ok') return finding.message;
  throw new GatewayError(
    'environment_unavailable',
    finding?.message ?? 'The terminal backend does not answer.',
    {
      ...(finding?.mend !== undefined && { mend: finding.mend }),
    },
  );
}

/** The address may hold a token, so an error must not name it. */
async function call(url: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Response> {
  try {
    return await fetch(url, { method, headers, signal: AbortSignal.timeout(callTimeoutMs) });
  } catch (error) {
    throw new GatewayError(
      'platform_unreachable',
      `${new URL(url).host} cannot be reached: ${errorMessage(error)}.`,
      {
        mend: 'Check the network, a proxy, and the address in the configuration.',
      },
    );
  }
}

/** With nobody to decide, every dangerous command in a shared chat would wait in vain. */
function approversFinding(config: Config): Finding {
  const shared = (['telegram', 'discord', 'slack'] as const).filter(
    (name) => isPlatformEnabled(config, name) && config[name].admin_users.length === 0,
  );
  if (shared.length === 0 || config.approvals.mode === 'off')
    return { check: 'approvals', ok: true, says: `mode ${config.approvals.mode}` };
  return {
    check: 'approvals',
    ok: true,
    says: `no admin is named for ${shared.join(', ')}, so only the person who asked can approve`,
    mend: `Name one with ${shared.map((name) => `${name.toUpperCase()}_ADMIN_USERS`).join(', ')} if others should.`,
  };
}
