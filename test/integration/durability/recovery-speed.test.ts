import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ChatAddress } from '../../../platforms/platform.ts';
import type { SessionRow } from '../../../src/store/sessions.ts';
import { openSqliteStore } from '../../../src/store/sqlite/store.ts';
import type { Transaction } from '../../../src/store/store.ts';
import { type GatewayProcess, startGatewayProcess } from '../../e2e/support/gateway-process.ts';
import { createOpenAIEmulator, type OpenAIEmulator } from '../../emulators/openai/emulator.ts';

const sessions = 1_000;
const pendingApprovals = 200;
/** The budget is 1 s on a quiet machine; tests share theirs. */
const boundMs = 3_000;

describe('recovery with a full store', () => {
  let home: string;
  let model: OpenAIEmulator;
  let gateway: GatewayProcess | null = null;

  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), 'hermes-recovery-'));
    model = await createOpenAIEmulator();
    // Once before, so that code and tool discovery are as warm as at any restart.
    gateway = await startGatewayProcess({ home, env: env() });
    await gateway.stop();
    const store = openSqliteStore(join(home, 'state.db'));
    await store.transaction(async (tables) => {
      for (let index = 0; index < sessions; index += 1) await addSession(tables, index);
    });
    await store.close();
  });
  afterAll(async () => {
    await gateway?.dispose();
    await model.close();
    await rm(home, { recursive: true, force: true });
  });
  const env = () => ({ OPENAI_BASE_URL: model.url, OPENAI_API_KEY: 'sk-test', HERMES_MODEL: 'fake' });

  it(`resumes the first of its turns within ${boundMs} ms of the spawn`, async () => {
    const spawnedAt = performance.timeOrigin + performance.now();
    await gateway?.restart();
    await expect.poll(() => model.held.length, { timeout: 20_000 }).toBeGreaterThan(0);
    const tookMs = Math.round((model.held[0]?.receivedAt ?? Number.POSITIVE_INFINITY) - spawnedAt);
    console.info(`first resumed turn ${tookMs} ms after the spawn`);
    expect(tookMs).toBeLessThan(boundMs);
    expect(JSON.stringify(model.requests[0]?.body.messages)).toContain('question of session');
  });

  it('resumes only what has something to do', async () => {
    await expect.poll(() => model.requests.length, { timeout: 10_000 }).toBe(runningTurns);
  });
});

/** Sessions in the middle of a turn when the process died. */
const runningTurns = 20;

/** The last ones run, those before them wait for a person, the rest are idle with something said. */
async function addSession(tables: Transaction, index: number): Promise<void> {
  const now = Date.now();
  const chat: ChatAddress = { platform: 'web', kind: 'dm', chatId: `chat-${index}` };
  const isRunning = index >= sessions - runningTurns;
  const isParked = !isRunning && index >= sessions - runningTurns - pendingApprovals;
  const row: SessionRow = {
    key: `agent:main:web:dm:chat-${index}`,
    sessionId: `s-${index}`,
    chat,
    userId: '1',
    userName: 'Ann',
    locale: 'en',
    turn: isRunning ? 'running' : isParked ? 'parked' : 'idle',
    blame: { atWork: 0, waiting: 0 },
    settings: {},
    createdAt: now,
    updatedAt: now,
  };
  await tables.sessions.create(row);
  await tables.entries.append(row.sessionId, { kind: 'user', text: `question of session ${index}` }, now);
  if (isRunning) await tables.sessions.acquire(row.key, 'dead', now, now + 60_000);
  if (!isParked) return;
  const call = { id: 'c1', name: 'terminal', arguments: '{"command":"rm -r build"}' };
  const asked = { kind: 'assistant', text: '', toolCalls: [call], model: 'fake' } as const;
  await tables.entries.append(row.sessionId, asked, now);
  await tables.approvals.add({
    id: `a${index}`,
    sessionKey: row.key,
    sessionId: row.sessionId,
    callId: call.id,
    chat,
    locale: 'en',
    askerId: '1',
    askerName: 'Ann',
    ask: { kind: 'question', question: 'Delete?', choices: ['yes', 'no'] },
    state: 'pending',
    createdAt: now,
    expiresAt: now + 3_600_000,
    decision: null,
    cardId: null,
  });
  await tables.timers.set({
    id: `approval:a${index}`,
    kind: 'approval_expiry',
    ref: `a${index}`,
    dueAt: now + 3_600_000,
  });
}
