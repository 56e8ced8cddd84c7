import { join } from 'node:path';
import type { Platform } from '../../../platforms/platform.ts';
import type { Environment } from '../../../tools/environments/environment.ts';
import type { ProcessTable } from '../../../tools/environments/process-table.ts';
import type { ToolHooks } from '../../../tools/hooks.ts';
import type { Registry } from '../../../tools/registry.ts';
import { limitsForWindow, limitTurnResults } from '../../../tools/result-limits.ts';
import { buildSystemPrompt } from '../../agent/prompt.ts';
import type { ToolOutcome, TurnOutcome, TurnPorts } from '../../agent/turn.ts';
import type { ApprovalGate } from '../../approvals/gate.ts';
import type { Clock } from '../../clock.ts';
import type { Config } from '../../config/schema.ts';
import { displayFor } from '../../config/views.ts';
import { GatewayError } from '../../errors.ts';
import type { Log } from '../../log.ts';
import { messagesFor } from '../../messages/messages.ts';
import type { ModelClient } from '../../model/model-client.ts';
import type { ApprovalRow } from '../../store/approvals.ts';
import type { Entry } from '../../store/entries.ts';
import type { SessionRow } from '../../store/sessions.ts';
import type { Store } from '../../store/store.ts';
import type { Outbound } from '../outbound/outbound.ts';
import { agentStateFor } from './agent-state.ts';
import { createAgentTools } from './agent-tools.ts';
import { answerRows, newRow } from './answer.ts';
import type { TurnRun } from './lanes.ts';
import { proveLease } from './lease.ts';
import { createPresenter, type Presenter } from './presenter.ts';
import { createReaction } from './reaction.ts';
import type { SessionTools } from './session-tools.ts';
import { toolConfigOf } from './tool-config.ts';
import { createTranscript } from './transcript.ts';
import { createTurnRun } from './turn-run.ts';

export interface OpenTurnOptions {
  store: Store;
  clock: Clock;
  log: Log;
  home: string;
  config(): Config;
  model(): ModelClient;
  platforms: ReadonlyMap<string, Platform>;
  outbound: Outbound;
  registry: Registry;
  hooks: ToolHooks;
  gate: ApprovalGate;
  sessionTools: SessionTools;
  processes: ProcessTable;
  environmentFor(session: SessionRow): Promise<Environment>;
  waitForDecision(id: string, signal: AbortSignal): Promise<ApprovalRow>;
  /** Told of what a turn did, for metrics. */
  onTurn(platform: string, outcome: TurnOutcome | 'failed', ms: number): void;
}

/** Gathers what one turn of one session works with. */
export function createOpenTurn(
  options: OpenTurnOptions,
): (session: SessionRow, fence: number) => Promise<TurnRun> {
  const { store, clock, log, outbound } = options;

  async function open(session: SessionRow, fence: number): Promise<TurnRun> {
    const platform = options.platforms.get(session.chat.platform);
    if (!platform) throw new GatewayError('usage', `Platform ${session.chat.platform} is not running.`);
    const openedAt = clock.now();
    const messages = messagesFor(session.locale);
    const model = options.model();
    const presenter = presenterFor(session, fence, platform);
    const definitions = await options.sessionTools.definitionsFor(session);
    const [entries, taken] = await Promise.all([
      store.read.entries.list(session.sessionId),
      store.read.inbox.taken(session.key),
    ]);
    const reaction = createReaction({
      platform,
      chat: session.chat,
      messageId: taken.at(-1)?.event.messageId,
      config: options.config(),
      clock,
      log,
    });
    reaction.seen();
    const display = displayFor(options.config(), session.chat.platform);
    const answerOptions = {
      store,
      clock,
      home: options.home,
      platform,
      session,
      messages,
      maxMessages: display.max_messages,
      replyTo: session.chat.kind === 'dm' ? undefined : taken.at(-1)?.event.messageId,
    };
    const transcript = createTranscript({
      store,
      clock,
      session,
      fence,
      entries,
      async deliver(text, purpose) {
        presenter.boundary();
        await presenter.streamStored();
        if (purpose === 'interim' && !display.interim_assistant_messages) return [];
        return answerRows(text, purpose, answerOptions);
      },
      onOutbox: outbound.push,
    });
    const toolNames = definitions.map((definition) => definition.function.name);
    const tools = createAgentTools({
      session,
      definitions,
      registry: options.registry,
      hooks: options.hooks,
      gate: options.gate,
      waitForDecision: options.waitForDecision,
      contextFor: (callId, signal) => ({
        ...contextOf(session, presenter),
        toolCallId: callId,
        signal,
        enabledTools: toolNames,
        userTask: lastUserText(transcript.entries()),
      }),
      limit: (results) => limitResults(session, model.contextTokens, results),
    });
    const ports: TurnPorts = {
      transcript,
      model,
      tools,
      events: presenter,
      systemPrompt: await systemPromptOf(session, toolNames),
      maxIterations: options.config().agent.max_turns,
      texts: { budgetSpent: messages.turn.budgetSpent, emptyReply: messages.turn.emptyReply },
      log,
    };

    return createTurnRun({
      sessionKey: session.key,
      ports,
      transcript,
      presenter,
      messages,
      onEnd(outcome) {
        reaction.ended(outcome);
        options.onTurn(session.chat.platform, outcome, clock.now() - openedAt);
      },
    });
  }

  function presenterFor(session: SessionRow, fence: number, platform: Platform): Presenter {
    const config = options.config();
    const { streaming } = config;
    return createPresenter({
      platform,
      chat: session.chat,
      outbound,
      clock,
      log,
      streaming: {
        enabled: streaming.enabled && streaming.transport !== 'off',
        intervalMs: Math.max(streaming.edit_interval * 1000, platform.capabilities.pace.minEditIntervalMs),
        minChars: streaming.buffer_threshold,
        cursor: streaming.cursor,
      },
      toolProgress: displayFor(config, session.chat.platform).tool_progress,
      describeCall(call, args) {
        const record = options.registry.get(call.name);
        const preview = record?.preview(args) ?? '';
        return `${record?.emoji ?? '⚡'} ${call.name}${preview === '' ? '' : `: "${preview}"`}`;
      },
      openStream: (payload) =>
        store.transaction(async (tables) => {
          await proveLease(tables, session.key, fence);
          const row = await tables.outbox.add(
            newRow(session, { kind: 'send', payload }, 'stream', clock.now()),
          );
          tables.onCommit(() => outbound.push([row]));
          return row;
        }),
      messageIdOf: async (id) => (await store.read.outbox.get(id))?.messageId ?? null,
    });
  }

  /** What every call of the turn may know and do; the rest is the call's own. */
  function contextOf(session: SessionRow, presenter: Presenter) {
    return {
      taskId: 'default',
      sessionId: session.sessionId,
      log,
      home: options.home,
      config: toolConfigOf(options.config()),
      environment: () => options.environmentFor(session),
      processes: options.processes,
      activity: presenter.activity,
      agent: agentStateFor(store, session, memoryFolderOf(session)),
    };
  }

  /** Results too large for the window go to files that the session's own tools can read. */
  async function limitResults(
    session: SessionRow,
    contextTokens: number,
    results: readonly ToolOutcome[],
  ): Promise<readonly ToolOutcome[]> {
    const limited = await limitTurnResults(
      results.map(({ callId, tool, content }) => ({ name: tool, toolCallId: callId, result: content })),
      {
        home: options.home,
        environment: () => options.environmentFor(session),
        log,
        limits: limitsForWindow(contextTokens),
      },
    );
    return results.map((result, index) => ({ ...result, content: limited[index] ?? result.content }));
  }

  /** Built once a session and kept: the provider's cache of it must hold, and memory writes show next session. */
  async function systemPromptOf(session: SessionRow, toolNames: readonly string[]): Promise<string> {
    if (session.settings.systemPrompt !== undefined) return session.settings.systemPrompt;
    const config = options.config();
    const prompt = await buildSystemPrompt({
      persona: config.agent.system_prompt,
      platform: session.chat.platform,
      chatTitle: '',
      userName: session.userName,
      backend: config.terminal.backend,
      cwd: config.terminal.cwd,
      toolNames,
      memoryFolder: config.memory.memory_enabled
        ? join(options.home, 'memories', memoryFolderOf(session))
        : null,
      language: session.locale,
    });
    const { enabled, disabled } = options.sessionTools.selectionFor(session.chat.platform);
    const settings = { ...session.settings, systemPrompt: prompt, toolsets: { enabled, disabled } };
    await store.transaction((tables) => tables.sessions.update(session.key, { settings }));
    return prompt;
  }

  return open;
}

function lastUserText(entries: readonly Entry[]): string {
  const last = entries.findLast((entry) => entry.kind === 'user');
  return last?.kind === 'user' ? last.text : '';
}

/** Users' memories are apart: one folder each, below `<home>/memories`. */
function memoryFolderOf(session: SessionRow): string {
  return `${session.chat.platform}-${session.userId}`.replace(/[^A-Za-z0-9_-]/g, '_');
}
