import type {
  InboundEvent,
  PlatformSink,
  PlatformState,
  Press,
  PressReply,
} from '../../platforms/platform.ts';
import { createChanges } from '../emulators/emulator.ts';

/** A gateway that only keeps what it is told. */
export interface RecordingSink extends PlatformSink {
  events: InboundEvent[];
  presses: Press[];
  states: PlatformState[];
  /** Contacts so far. */
  contacts(): number;
  /** The next `times` events cannot be stored. */
  refuse(times: number): void;
  /** What the presser is told. */
  reply: PressReply;
  until<T>(what: string, look: () => T | undefined, timeoutMs?: number): Promise<T>;
  /** The first event, from `from` on, whose text is `text`. */
  event(text: string, from?: number): Promise<InboundEvent>;
  state(state: PlatformState['state'], timeoutMs?: number): Promise<PlatformState>;
}

export function createRecordingSink(): RecordingSink {
  const events: InboundEvent[] = [];
  const presses: Press[] = [];
  const states: PlatformState[] = [];
  const changes = createChanges(() => JSON.stringify({ events, presses, states }, null, 1));
  let contacts = 0;
  let refusals = 0;
  const sink: RecordingSink = {
    events,
    presses,
    states,
    reply: { text: 'Noted', alert: false },
    contacts: () => contacts,
    refuse(times) {
      refusals = times;
    },
    async receive(event) {
      if (refusals > 0) {
        refusals -= 1;
        throw new Error('the disk is full');
      }
      events.push(event);
      changes.announce();
    },
    async press(press) {
      presses.push(press);
      changes.announce();
      return sink.reply;
    },
    report(state) {
      states.push(state);
      changes.announce();
    },
    alive() {
      contacts += 1;
      changes.announce();
    },
    until: changes.until,
    event: (text, from = 0) =>
      changes.until(`an event "${text}"`, () => events.slice(from).find((event) => event.text === text)),
    state: (wanted, timeoutMs) =>
      changes.until(`state ${wanted}`, () => states.findLast(({ state }) => state === wanted), timeoutMs),
  };
  return sink;
}
