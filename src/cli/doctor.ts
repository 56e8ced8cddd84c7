import { existsSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import type { Config } from '../config/schema.ts';
import { isPlatformEnabled } from '../config/views.ts';
import { GatewayError } from '../errors.ts';
import { silentLog } from '../log.ts';
import { usesDemoModel } from '../model/index.ts';
import { redactSecrets } from '../redact.ts';
import { checkDiscord, checkModel, checkSlack, checkTelegram } from './checks.ts';
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
    attempt('model', () => describeModel(config)),
    attempt('terminal', () => checkTerminal(loaded)),
  ];
  if (isPlatformEnabled(config, 'telegram'))
    checks.push(attempt('telegram', () => checkTelegram(config.telegram)));
  if (isPlatformEnabled(config, 'discord'))
    checks.push(attempt('discord', () => checkDiscord(config.discord)));
  if (isPlatformEnabled(config, 'slack')) checks.push(attempt('slack', () => checkSlack(config.slack)));
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

async function describeModel(config: Config): Promise<string> {
  if (usesDemoModel(config)) return 'the offline demo model; set OPENAI_API_KEY for a real one';
  return checkModel(config.model);
}

/** Commands start in the home folder where the one that is set is missing: nobody would notice. */
function mustHaveFolder({ backend, cwd }: Config['terminal']): void {
  if (backend !== 'local' || !isAbsolute(cwd) || existsSync(cwd)) return;
  throw new GatewayError('environment_unavailable', `The folder ${cwd} does not exist.`, {
    mend: 'Make it, or set terminal.cwd (TERMINAL_CWD) to one that is there.',
  });
}

/** Opens the terminal backend and runs a command in it. */
async function checkTerminal({ config, home, env }: Loaded): Promise<string> {
  mustHaveFolder(config.terminal);
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
