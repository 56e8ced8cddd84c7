import { randomUUID } from 'node:crypto';
import type { Clock } from '../../src/clock.ts';
import { errorMessage, GatewayError } from '../../src/errors.ts';
import type { Log } from '../../src/log.ts';
import type { Platform, PlatformCapabilities, PlatformSink } from '../platform.ts';
import { choiceLine, choose } from './approval-prompt.ts';
import { type Choice, type CliPayload, parsePayload, renderCli } from './payload.ts';
import { createPerson } from './person.ts';
import { createScreen } from './screen.ts';
import { createTerminal } from './terminal.ts';
import { createPaint } from './terminal-text.ts';

export interface CliOptions {
  input: NodeJS.ReadableStream & { isTTY?: boolean };
  output: NodeJS.WritableStream & { isTTY?: boolean };
  /** Where everything but the answer goes in one-shot mode. */
  errorOutput: NodeJS.WritableStream & { isTTY?: boolean };
  /** One-shot mode: asks this, prints the answer alone, ends. */
  query?: string;
  personName?: string;
  /** The conversation to go on with; a one-shot run has one of its own. */
  chatId?: string;
}

export interface CliDependencies {
  clock: Clock;
  log: Log;
}

export interface Cli extends Platform {
  /** Resolves when the person leaves, or the answer of a one-shot run stands. */
  readonly finished: Promise<void>;
  /** Ends a one-shot run now: the caller knows that the turn is over. Otherwise a second of quiet tells. */
  finish(): void;
}

/** Two presses of Ctrl-C within this leave. */
const leaveWithinMs = 2_000;
/** A one-shot run is over when the bot is not at work and says nothing more for so long. */
const quietMs = 1_000;

const refusedAlone =
  'Refused: this needs a person to approve it, and none is here. Run the chat in a terminal to be asked.';

function capabilitiesOf(attended: boolean, streams: boolean): PlatformCapabilities {
  return {
    attended,
    buttons: true,
    edits: true,
    threads: false,
    reactions: false,
    files: true,
    stream: streams ? 'edit' : 'none',
    draftKinds: [],
    idempotentSend: false,
    replaysMissed: true,
    limits: {
      textUnits: 1_000_000,
      captionUnits: 10_000,
      buttonIdBytes: 64,
      fileBytesIn: 0,
      fileBytesOut: 1e12,
    },
    pace: {
      perChatPerSecond: 1_000,
      perChatBurst: 1_000,
      groupPerMinute: 60_000,
      perBotPerSecond: 1_000,
      minEditIntervalMs: 40,
    },
  };
}

/** The terminal that `hermes-gateway chat` runs in, as a platform with one person and one chat. */
export function createCli(options: CliOptions, { clock, log }: CliDependencies): Cli {
  const { input, output, query } = options;
  const isOneShot = query !== undefined;
  const attended = !isOneShot || input.isTTY === true;
  const talk = isOneShot ? options.errorOutput : output;
  const chatId = options.chatId ?? (isOneShot ? randomUUID() : 'cli');
  const person = createPerson({ platform: 'cli', kind: 'dm', chatId }, options.personName ?? 'you', clock);
  const terminal = createTerminal({ input, output: talk, onLine: take, onInterrupt, onEnd });
  const screen = createScreen(terminal.write, createPaint(talk.isTTY === true && !process.env['NO_COLOR']));

  const finished = Promise.withResolvers<void>();
  /** Cards that wait for a decision, the oldest first. */
  const waiting = new Map<string, readonly Choice[]>();
  let sink: PlatformSink | null = null;
  let serial = 0;
  let isWorking = false;
  let inputEnded = false;
  let lastInterrupt = Number.NEGATIVE_INFINITY;
  let answer: string | null = null;
  let cancelQuiet: (() => void) | null = null;

  // ---------------------------------------------------------------- what the person does

  function take(typed: string): void {
    const text = typed.trim();
    const [card] = waiting;
    const choice = card === undefined ? null : choose(card[1], text);
    if (card !== undefined && choice !== null) decide(card[0], choice);
    else if (text === '/quit' || text === '/exit') finish();
    else if (text === '') settle();
    else send((to) => person.say(text, to));
  }

  function decide(messageId: string, { id }: Choice): void {
    waiting.delete(messageId);
    send(async (to) => screen.note((await person.press(messageId, id, to)).text));
  }

  function send(act: (to: PlatformSink) => Promise<void>): void {
    if (sink === null) return;
    act(sink).catch((error: unknown) => {
      log.error({ err: error }, 'What was typed at the terminal was not taken');
      screen.note(`That did not go through: ${errorMessage(error)}`);
    });
  }

  function onInterrupt(): void {
    const now = clock.now();
    const again = now - lastInterrupt < leaveWithinMs;
    lastInterrupt = now;
    if (isOneShot || again) {
      finish();
    } else {
      screen.note('Stopping. Press Ctrl-C again to leave.');
      take('/stop');
    }
  }

  function onEnd(): void {
    inputEnded = true;
    for (const [id, choices] of waiting) offer(id, choices);
    settle();
  }

  // ---------------------------------------------------------------- what the gateway shows

  function present(id: string, payload: CliPayload, isNew: boolean): void {
    if (isOneShot && payload.kind === 'text') answer = payload.text;
    else if (isNew) screen.show(id, payload);
    else screen.change(id, payload);
    if (payload.kind === 'card') offer(id, payload.choices);
    settle();
  }

  function offer(id: string, choices: readonly Choice[]): void {
    waiting.delete(id);
    if (choices.length === 0) return;
    const denial = choices.find(({ isDenial }) => isDenial);
    if (attended && !inputEnded) {
      waiting.set(id, choices);
      terminal.write(choiceLine(choices));
    } else {
      screen.note(refusedAlone);
      if (denial !== undefined) decide(id, denial);
    }
  }

  /** After anything happened: is it over, or the person's turn? */
  function settle(): void {
    cancelQuiet?.();
    cancelQuiet = null;
    if (screen.isOpen || (isWorking && waiting.size === 0)) return;
    const isOver = waiting.size === 0 && (isOneShot ? answer !== null : inputEnded);
    if (isOver) cancelQuiet = clock.after(quietMs, finish);
    else if (!inputEnded && (!isOneShot || waiting.size > 0)) terminal.prompt();
  }

  function finish(): void {
    cancelQuiet?.();
    screen.endLine();
    if (answer !== null) output.write(`${answer}\n`);
    answer = null;
    finished.resolve();
  }

  return {
    name: 'cli',
    routes: [],
    capabilities: capabilitiesOf(attended, !isOneShot),
    finished: finished.promise,
    finish,
    async connect(given) {
      sink = given;
      sink.report({ state: 'connected', account: 'terminal' });
      sink.alive();
      if (attended) terminal.listen();
      if (query !== undefined) await person.say(query, sink);
      else settle();
    },
    async disconnect() {
      cancelQuiet?.();
      terminal.close();
      sink?.report({ state: 'disconnected' });
      sink = null;
    },
    render: renderCli,
    async deliver(_chat, payload) {
      serial += 1;
      const messageId = `shown-${serial}`;
      present(messageId, parsePayload(payload), true);
      return { messageId };
    },
    findDelivered: async () => null,
    edit: async (_chat, messageId, payload) => present(messageId, parsePayload(payload), false),
    remove: async () => undefined,
    async showActivity(_chat, activity) {
      isWorking = activity === 'working';
      settle();
    },
    async draft() {
      throw new GatewayError('platform_refused', 'The terminal streams by edits and knows no drafts.');
    },
    async react() {
      throw new GatewayError('platform_refused', 'The terminal shows no reactions.');
    },
    async download() {
      throw new GatewayError('platform_refused', 'The terminal takes no files; name a path instead.');
    },
  };
}
