import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { Platform } from '../../../platforms/platform.ts';
import type { Environment } from '../../../tools/environments/environment.ts';
import type { ProcessTable } from '../../../tools/environments/process-table.ts';
import type { ToolHooks } from '../../../tools/hooks.ts';
import type { Registry } from '../../../tools/registry.ts';
import { limitsForWindow, limitTurnResults } from '../../../tools/result-limits.ts';
import type { AgentState, ToolContext } from '../../../tools/tool.ts';
import { nextStep } from '../../agent/next-step.ts';
import { buildSystemPrompt } from '../../agent/prompt.ts';
import { runTurn } from '../../agent/run-turn.ts';
import type { TurnOutcome, TurnPorts } from '../../agent/turn.ts';
import type { ApprovalGate } from '../../approvals/gate.ts';
import type { Clock } from '../../clock.ts';
import type { Config } from '../../config/schema.ts';
import { displayFor } from '../../config/views.ts';
import { GatewayError } from '../../errors.ts';
import type { Log } from '../../log.ts';
import { messagesFor } from '../../messages/messages.ts';
import type { ModelClient } from '../../model/model-client.ts';
import type { ApprovalRow } from '../../store/approvals.ts';
import type { SessionRow } from '../../store/sessions.ts';
import type { Store } from '../../store/store.ts';
import type { Outbound } from '../outbound/outbound.ts';
import { agentStateFor } from './agent-state.ts';
import { createAgentTools } from './agent-tools.ts';
import { answerRows, newRow } from './answer.ts';
import type { TurnRun } from './lanes.ts';
import { proveLease } from './lease.ts';
import { createPresenter, type Presenter } from './presenter.ts';
import type { SessionTools } from './session-tools.ts';
import { toolConfigOf } from './tool-config.ts';
import { createTranscript } from './transcript.ts';

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
    const messages = messagesFor(session.locale);
    const model = options.model();
    const presenter = presenterFor(session, fence, platform);
    const definitions = await options.sessionTools.definitionsFor(session);
    const [entries, taken] = await Promise.all([
      store.read.entries.list(session.sessionId),
      store.read.inbox.taken(session.key),
    ]);
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
    const tools = createAgentTools({
      session,
      definitions,
      registry: options.registry,
      hooks: options.hooks,
      gate: options.gate,
      waitForDecision: options.waitForDecision,
      contextFor: (callId, signal) =>
        contextFor(
          session,
          callId,
          signal,
          presenter,
          definitions.map((d) => d.function.name),
          entriesTask(),
        ),
      limit: async (results) => {
        const named = results.map(({ callId, tool, content }) => ({
          name: tool,
          toolCallId: callId,
          result: content,
        }));
        const limits = limitsForWindow(model.contextTokens);
        const limited = await limitTurnResults(named, {
          home: options.home,
          environment: () => options.environmentFor(session),
          log,
          limits,
        });
        return results.map((result, index) => ({ ...result, content: limited[index] ?? result.content }));
      },
    });
    function entriesTask(): string {
      const last = transcript.entries().findLast((entry) => entry.kind === 'user');
      return last?.kind === 'user' ? last.text : '';
    }
    const ports: TurnPorts = {
      transcript,
      model,
      tools,
      events: presenter,
      systemPrompt: await systemPromptOf(
        session,
        definitions.map((definition) => definition.function.name),
      ),
      maxIterations: options.config().agent.max_turns,
      texts: { budgetSpent: messages.turn.budgetSpent, emptyReply: messages.turn.emptyReply },
      log,
    };

    async function apologise(text: string): Promise<void> {
      await answerOpenCalls('Interrupted: the turn was given up.');
      const body = { kind: 'assistant', text, toolCalls: [], model: model.model, outcome: 'failed' } as const;
      await transcript.finish(body, { inputTokens: 0, outputTokens: 0 });
    }

    async function answerOpenCalls(why: string): Promise<void> {
      const step = nextStep(transcript.entries());
      if (step.kind !== 'run_tools') return;
      const content = JSON.stringify({ error: why, status: 'interrupted' });
      await transcript.appendResults(
        step.calls.map((call) => ({ callId: call.id, tool: call.name, content })),
      );
    }

    return {
      async run(signal) {
        const startedAt = clock.now();
        try {
          const outcome = await runTurn(ports, signal);
          options.onTurn(session.chat.platform, outcome, clock.now() - startedAt);
          return outcome;
        } catch (error) {
          if (
            !(error instanceof GatewayError) ||
            error.code.startsWith('store') ||
            error.code === 'cancelled'
          )
            throw error;
          options.onTurn(session.chat.platform, 'failed', clock.now() - startedAt);
          const errorId = newErrorId();
          log.error(
            { errorId, code: error.code, error: error.message, session: session.key },
            'a turn failed',
          );
          await apologise(messages.turn.failed(error.message, error.mend ?? null, errorId));
          return 'done';
        }
      },
      async close(reason) {
        const why =
          reason === 'superseded'
            ? 'The user wrote a new message instead. Nothing was run.'
            : 'The user stopped the turn. Nothing was run.';
        await answerOpenCalls(why);
        const note = {
          kind: 'note',
          text: 'The user interrupted the turn above with the next message.',
        } as const;
        const stopped = {
          kind: 'assistant',
          text: '',
          toolCalls: [],
          model: model.model,
          outcome: 'interrupted',
        } as const;
        await transcript.close(reason === 'superseded' ? note : stopped);
      },
      async giveUp(why) {
        const errorId = newErrorId();
        log.error({ errorId, why, session: session.key }, 'a turn was given up');
        await apologise(why === 'stalled' ? messages.turn.stalled(errorId) : messages.turn.gaveUp(errorId));
      },
      lastActivity: presenter.lastActivity,
      dispose: presenter.dispose,
    };
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

  function contextFor(
    session: SessionRow,
    callId: string,
    signal: AbortSignal,
    presenter: Presenter,
    enabledTools: readonly string[],
    userTask: string,
  ): Omit<ToolContext, 'approve'> {
    const agent: AgentState = agentStateFor(store, session, memoryFolderOf(session));
    return {
      taskId: 'default',
      sessionId: session.sessionId,
      toolCallId: callId,
      userTask,
      enabledTools,
      signal,
      log,
      home: options.home,
      config: toolConfigOf(options.config()),
      environment: () => options.environmentFor(session),
      processes: options.processes,
      activity: presenter.activity,
      agent,
    };
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

/** Users' memories are apart: one folder each, below `<home>/memories`. */
function memoryFolderOf(session: SessionRow): string {
  return `${session.chat.platform}-${session.userId}`.replace(/[^A-Za-z0-9_-]/g, '_');
}

/** What the chat is told and the log holds, so that the two can be brought together. */
function newErrorId(): string {
  return randomBytes(3).toString('hex');
}
