import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { type GatewayProcess, startGatewayProcess } from '../e2e/support/gateway-process.ts';
import { createOpenAIEmulator } from '../emulators/openai/emulator.ts';
import { startTelegramEmulator, type TelegramEmulator } from '../emulators/telegram/telegram-emulator.ts';
import { isFields } from '../emulators/telegram/wire.ts';
import { killRepeatedly } from './killer.ts';
import { playPerson, pressLeftovers } from './person.ts';
import { type ChaosOptions, makePlan } from './plan.ts';
import { scriptedReply } from './scripted-model.ts';
import { type AnswerSent, judgeEvidence, type Verdict } from './verdict.ts';
import { sentKey, startWeather } from './weather.ts';

export interface ChaosReport extends Verdict {
  options: ChaosOptions;
  messages: number;
  kills: number;
  /** Copies of cards that kept their buttons until they were pressed. */
  leftovers: number;
  medianStartMs: number;
  troubles: Readonly<Record<string, number>>;
  /** Warnings and errors of the gateway, by their text. */
  logged: Readonly<Record<string, number>>;
  seconds: number;
  /** All that the gateway wrote to its log. */
  log: string;
}

const config = `
telegram:
  pace: off
approvals:
  timeout: 10
  denial_breaker_threshold: 0
display:
  busy_input_mode: queue
`;
/** Longer than a request lives: what has buttons after it is a copy that the gateway does not know of. */
const leftoversAfterMs = 15_000;
const settledWithinMs = 15_000;

/**
 * Kills the gateway again and again while people talk with it and everything around it fails, then looks at what
 * became of every message. The gateway is a process of its own; Telegram, the people and the model live here.
 */
export async function runChaos(options: ChaosOptions): Promise<ChaosReport> {
  const startedAt = performance.now();
  const plan = makePlan(options);
  const telegram = await startTelegramEmulator({ record: false });
  const model = await createOpenAIEmulator({ answer: scriptedReply, record: false });
  const home = await mkdtemp(join(tmpdir(), 'hermes-chaos-'));
  await writeFile(join(home, 'config.yaml'), config, { mode: 0o600 });
  const gateway = await startGatewayProcess({
    home,
    env: {
      TELEGRAM_BOT_TOKEN: telegram.token,
      TELEGRAM_API_ROOT: telegram.apiRoot,
      OPENAI_BASE_URL: model.url,
      OPENAI_API_KEY: 'sk-chaos',
      HERMES_MODEL: 'scripted',
      GATEWAY_ALLOW_ALL_USERS: 'true',
    },
  });
  try {
    const answersSent = recordAnswers(telegram);
    const weather = startWeather(telegram, model, plan.weather);
    const users = plan.chats.map((_, index) => telegram.addUser(`Person ${index}`, { locale: 'en' }));
    const killing = killRepeatedly(gateway, plan.kills);
    const talking = Promise.all(
      users.map((user, index) => playPerson(telegram, user, plan.chats[index] ?? [])),
    );
    const [killed, seen] = await Promise.all([killing, talking]);
    weather.stop();
    await telegram.until
      .holds('no live buttons', () => !hasLiveButtons(telegram), leftoversAfterMs)
      .catch(() => false);
    const leftovers = await Promise.all(
      users.map((user, index) => pressLeftovers(telegram, user, seen[index] ?? [])),
    );
    const restless = await untilSettled(telegram, gateway);
    const verdict = judgeEvidence({
      chats: users.map(({ chat }, index) => ({ seen: seen[index] ?? [], shown: telegram.shown(chat) })),
      ledger: (await readFile(join(home, 'ledger'), 'utf8').catch(() => '')).split('\n').filter(Boolean),
      answersSent,
      killsAt: killed.at,
      unconfirmed: weather.unconfirmed,
    });
    return {
      options,
      ...verdict,
      violations: [...verdict.violations, ...restless, ...telegram.violations],
      messages: seen.flat().length,
      kills: killed.at.length,
      leftovers: leftovers.reduce((sum, count) => sum + count, 0),
      medianStartMs: Math.round(killed.startsMs.toSorted((a, b) => a - b)[killed.startsMs.length >> 1] ?? 0),
      troubles: weather.counts(),
      logged: countLogged(gateway.log()),
      seconds: Math.round((performance.now() - startedAt) / 1_000),
      log: gateway.log(),
    };
  } finally {
    await gateway.dispose();
    await Promise.all([telegram.close(), model.close()]);
    await rm(home, { recursive: true, force: true });
  }
}

/** Keeps every send of an answer, the second ones too. */
function recordAnswers(telegram: TelegramEmulator): AnswerSent[] {
  const answers: AnswerSent[] = [];
  telegram.watch({
    handedOut: () => undefined,
    called(method, fields, at) {
      if (method !== 'sendRichMessage' && method !== 'sendMessage') return;
      const rich = fields['rich_message'];
      const text = String(isFields(rich) ? rich['markdown'] : fields['text']);
      const id = /^(m\d+x\d+): /.exec(text)?.[1];
      if (id !== undefined) answers.push({ id, key: sentKey(fields), at });
    },
  });
  return answers;
}

const stateFile = z.object({
  gateway_state: z.string(),
  running_turns: z.number(),
  pending_approvals: z.number(),
  queue_depth: z.number(),
  outbox_depth: z.number(),
});

/** Waits for the last edits, stops the gateway and tells what it did not bring to an end. */
async function untilSettled(telegram: TelegramEmulator, gateway: GatewayProcess): Promise<string[]> {
  await telegram.until
    .holds('no live buttons', () => !hasLiveButtons(telegram), settledWithinMs)
    .catch(() => false);
  const problems: string[] = [];
  const code = await gateway.stop();
  if (code !== 0) problems.push(`the gateway ended with ${code} on SIGTERM`);
  const state = stateFile.parse(JSON.parse(await readFile(join(gateway.home, 'gateway_state.json'), 'utf8')));
  for (const name of ['running_turns', 'pending_approvals', 'queue_depth', 'outbox_depth'] as const)
    if (state[name] > 0) problems.push(`${name} is ${state[name]} at the end`);
  return problems;
}

function hasLiveButtons({ world }: TelegramEmulator): boolean {
  return [...world.messages.values()].flat().some(({ keyboard }) => keyboard.length > 0);
}

const logLine = z.object({ level: z.union([z.number(), z.string()]), msg: z.string() });

/** What the gateway complained of, for whoever looks for the cause of a violation. */
function countLogged(log: string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const line of log.split('\n').filter((one) => one.startsWith('{'))) {
    const parsed = logLine.safeParse(readJson(line));
    const msg = parsed.success ? parsed.data.msg : 'an unreadable line';
    counts[msg] = (counts[msg] ?? 0) + 1;
  }
  return counts;
}

function readJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    // The kill cut the line off.
    return null;
  }
}
