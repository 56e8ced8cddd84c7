import { randomBytes, randomUUID } from 'node:crypto';
import type { Platform } from '../../platforms/platform.ts';
import type { Environment } from '../../tools/environments/environment.ts';
import type { ProcessTable } from '../../tools/environments/process-table.ts';
import type { ToolHooks } from '../../tools/hooks.ts';
import type { Registry } from '../../tools/registry.ts';
import type { TurnOutcome } from '../agent/turn.ts';
import type { GateOptions } from '../approvals/gate.ts';
import type { Clock } from '../clock.ts';
import type { Config } from '../config/schema.ts';
import { displayFor, resetPolicyFor } from '../config/views.ts';
import { errorMessage } from '../errors.ts';
import type { Log } from '../log.ts';
import { messagesFor } from '../messages/messages.ts';
import type { ModelClient } from '../model/model-client.ts';
import type { TurnQueue } from '../queue/turn-queue.ts';
import type { ApprovalRow } from '../store/approvals.ts';
import type { InboxRow } from '../store/inbox.ts';
import type { OutboxRow } from '../store/outbox.ts';
import type { SessionRow } from '../store/sessions.ts';
import type { Store } from '../store/store.ts';
import { accessRulesFor } from './access-rules.ts';
import { createApprovalDesk } from './approval-desk.ts';
import type { CommandPorts } from './commands/command.ts';
import { commands } from './commands/index.ts';
import { runCommand } from './commands/run.ts';
import { createReceive } from './inbound.ts';
import { storeNotice } from './notices.ts';
import { createOutbound } from './outbound/outbound.ts';
import type { Pairing } from './pairing.ts';
import { createPresses } from './presses.ts';
import { recover } from './recovery.ts';
import { createReplies } from './replies.ts';
import { isShared } from './session-key.ts';
import { createSupervisor, type Supervisor } from './supervisor.ts';
import { createIntake } from './turn/intake.ts';
import { createLanes } from './turn/lanes.ts';
import { createMediaIn } from './turn/media-in.ts';
import { createOpenTurn } from './turn/open-turn.ts';
import type { SessionTools } from './turn/session-tools.ts';
import { startUpkeep } from './upkeep.ts';

/** The parts that the gateway puts together. Everything is given; it opens nothing itself. */
export interface GatewayParts {
  home: string;
  config(): Config;
  store: Store;
  queue: TurnQueue;
  clock: Clock;
  log: Log;
  platforms: ReadonlyMap<string, Platform>;
  model(): ModelClient;
  registry: Registry;
  hooks: ToolHooks;
  sessionTools: SessionTools;
  processes: ProcessTable & { restore(): Promise<void> };
  environmentFor(session: SessionRow): Promise<Environment>;
  forgetSession(sessionId: string): Promise<void>;
  pairing: Pairing;
  /** Changes `command_allowlist` on disk; resolves once the running configuration has it. */
  allowlist: { add(entries: readonly string[]): Promise<void>; forget(entry: string): Promise<boolean> };
  setHome(session: SessionRow): Promise<void>;
  preview: GateOptions['preview'];
  smart: GateOptions['smart'];
  yolo: boolean;
  observe: GatewayObserver;
  /** Called when an admin asks for a restart; the command is refused where it is absent. */
  requestRestart?: () => void;
}

/** Told of what happens, for metrics and the status file. */
export interface GatewayObserver {
  received(platform: string): void;
  delivered(row: OutboxRow, outcome: 'sent' | 'dead'): void;
  turnEnded(platform: string, outcome: TurnOutcome | 'failed', ms: number): void;
  approvalEnded(row: ApprovalRow): void;
  changed(): void;
}

export interface Gateway {
  /** Takes up what was left, then connects the platforms. */
  start(): Promise<void>;
  /** Stops taking messages in, lets turns end, parks what is left, resumable. */
  stop(graceMs: number): Promise<void>;
  supervisor: Supervisor;
  /**
   * A notice from a background process: a message to its session that no person wrote. One with a `key` arrives
   * once, however often it is told.
   */
  notify(sessionId: string, text: string, key?: string): Promise<void>;
  figures(): { runningTurns: number; queueDepth: number; outboxWaiting: number };
}

export function createGateway(parts: GatewayParts): Gateway {
  const { store, clock, log, platforms, config, observe } = parts;
  const startedAt = clock.now();
  const language = (who: { chat: { platform: string }; sender: { locale?: string } }) => {
    const fixed = displayFor(config(), who.chat.platform).language;
    return fixed === 'auto' ? (who.sender.locale ?? 'en') : fixed;
  };

  const outbound = createOutbound({
    store,
    clock,
    log,
    platforms,
    onSent: (row) => observe.delivered(row, 'sent'),
    onDead(row, { chatGone }) {
      observe.delivered(row, 'dead');
      desk.notDelivered(row);
      if (row.purpose === 'final' && !chatGone) inBackground('a chat was not told', tellUndelivered(row));
    },
  });
  const onOutbox = outbound.push;
  const replies = createReplies({ clock, platforms, onOutbox });
  const desk = createApprovalDesk({
    ...parts,
    onOutbox,
    show: outbound.show,
    onSettled(row) {
      observe.approvalEnded(row);
      lanes.wake(row.sessionKey);
    },
  });
  const { decisions, timers } = desk;

  /** An answer that cannot be shown is not passed over in silence. */
  async function tellUndelivered({ sessionKey, chat }: OutboxRow): Promise<void> {
    const session = await store.read.sessions.get(sessionKey);
    const text = messagesFor(session?.locale).turn.deliveryFailed;
    await store.transaction((tables) => replies.add(tables, { key: sessionKey, chat }, text));
  }

  /** What nobody waits for must not end the process when it fails. */
  function inBackground(failure: string, work: Promise<unknown>): void {
    work.catch((error: unknown) => log.error({ error: errorMessage(error) }, failure));
  }

  const keyRules = () => ({
    groupSessionsPerUser: config().group_sessions_per_user,
    threadSessionsPerUser: config().thread_sessions_per_user,
  });
  const mediaIn = createMediaIn({ home: parts.home, platforms, log });
  const intake = createIntake({
    store,
    clock,
    readMedia: mediaIn,
    resetPolicy: (session) => resetPolicyFor(config(), session.chat),
    isKeptAlive: (session) =>
      parts.processes.list(session.sessionId).some((info) => info.status === 'running'),
    namesSenders: (session) => isShared(session.chat, keyRules()),
    async onSetAside(tables, session) {
      const errorId = randomBytes(3).toString('hex');
      log.error({ errorId, session: session.key }, 'a message at which the process died was set aside');
      await replies.add(tables, session, messagesFor(session.locale).turn.gaveUp(errorId));
    },
    async onReset(tables, session, reason) {
      tables.onCommit(() =>
        inBackground('a session was not forgotten', parts.forgetSession(session.sessionId)),
      );
      if (!config().session_reset.notify) return;
      await replies.add(tables, session, messagesFor(session.locale).turn.reset(reason));
    },
  });
  const lanes = createLanes({
    store,
    queue: parts.queue,
    clock,
    log,
    intake,
    inactivityMs: () => config().agent.gateway_timeout * 1000,
    withdrawRequests: decisions.supersede,
    openTurn: createOpenTurn({
      store,
      clock,
      log,
      home: parts.home,
      config,
      model: parts.model,
      platforms,
      outbound,
      registry: parts.registry,
      hooks: parts.hooks,
      gate: desk.gate,
      sessionTools: parts.sessionTools,
      processes: parts.processes,
      environmentFor: parts.environmentFor,
      waitForDecision: desk.waitForDecision,
      onTurn: observe.turnEnded,
    }),
  });

  const commandPorts: CommandPorts = {
    store,
    clock,
    lanes,
    decisions,
    startedAt,
    model: () => parts.model().model,
    async toolsets(session) {
      const definitions = await parts.sessionTools.definitionsFor(session);
      return {
        names: parts.sessionTools.selectionFor(session.chat.platform).enabled,
        tools: definitions.length,
      };
    },
    processes: {
      count: (id) => parts.processes.list(id).filter((info) => info.status === 'running').length,
      kill: (id) => parts.processes.killSession(id),
    },
    allowlist: { list: () => config().command_allowlist, forget: parts.allowlist.forget },
    setHome: parts.setHome,
    forgetSession: parts.forgetSession,
    requestRestart: parts.requestRestart,
  };
  const command = (row: Pick<InboxRow, 'id' | 'event' | 'sessionKey'>) => {
    const rules = accessRulesFor(config(), row.event.chat.platform);
    const isAdmin = rules.selfAuthenticating || rules.admins.includes(row.event.sender.id);
    const options = {
      ports: commandPorts,
      replies,
      log,
      language: (it: Pick<InboxRow, 'event'>) => language(it.event),
    };
    runCommand(row, isAdmin, options).catch((error: unknown) => {
      log.error(
        { error: errorMessage(error) },
        'a command could not be carried out; it will be tried at the next start',
      );
    });
  };

  const receive = createReceive({
    store,
    clock,
    log,
    lanes,
    decisions,
    pairing: parts.pairing,
    replies,
    language,
    settings(platform) {
      const display = displayFor(config(), platform);
      return {
        access: accessRulesFor(config(), platform),
        keys: keyRules(),
        busyMode: display.busy_input_mode,
        busyAck: display.busy_ack_enabled,
        queueLimit: config().limits.queued_per_session,
      };
    },
    runCommand: command,
  });
  const press = createPresses({
    store,
    decisions,
    pairing: parts.pairing,
    access: (platform) => accessRulesFor(config(), platform),
    language,
    onSettledCard: (row, messageId) =>
      inBackground('a copy of a card was not closed', desk.closeCopy(row, messageId)),
  });
  const supervisor = createSupervisor({
    clock,
    log,
    platforms,
    sink: {
      async receive(event) {
        observe.received(event.chat.platform);
        await receive(event);
      },
      press,
    },
    commandsFor(platform) {
      const { about } = messagesFor(displayFor(config(), platform).language).commands;
      return [...commands.keys()].map((name) => ({ name, description: about[name] ?? name }));
    },
    onChange: observe.changed,
  });

  let stopUpkeep: () => void = () => undefined;
  return {
    supervisor,
    async start() {
      await parts.processes.restore();
      await recover({
        store,
        clock,
        log,
        lanes,
        outbound,
        timers,
        replies,
        resetPolicy: (session) => resetPolicyFor(config(), session.chat),
        runCommand: command,
        alone: true,
      });
      lanes.start();
      stopUpkeep = startUpkeep({ store, clock, log });
      await supervisor.start();
    },
    async stop(graceMs) {
      const endsAt = clock.now() + graceMs;
      await lanes.drain(graceMs);
      await outbound.drain(Math.max(1_000, endsAt - clock.now()));
      await supervisor.stop();
      timers.stop();
      stopUpkeep();
      outbound.stop();
    },
    async notify(sessionId, text, key) {
      const woken = await storeNotice(store, clock, { sessionId, text, key: key ?? randomUUID() });
      if (woken !== null) lanes.wake(woken);
    },
    figures: () => ({
      runningTurns: lanes.running,
      queueDepth: parts.queue.depth,
      outboxWaiting: outbound.waiting,
    }),
  };
}
