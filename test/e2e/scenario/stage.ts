import type { ShownMessage } from '../../contracts/platform-contract.ts';
import type { Described } from '../../emulators/described.ts';
import type { Effects } from '../../emulators/effects.ts';

/** Where something is said: a chat, and a topic or thread of it. */
export interface StagePlace {
  chatId: string;
  threadId?: string;
}

/** One message of the bot as it stands, with what its markup would do to the readers. */
export interface StageMessage extends ShownMessage, Effects {
  id: string;
  /** Whether the text is Markdown, or text as it is. */
  markdown: boolean;
}

/** A person at the platform's own app. */
export interface StagePerson {
  /** As the platform's markup names people. */
  id: string;
  /** As the bot calls the person. */
  name: string;
  /** The private chat with the bot. */
  dm: StagePlace;
  /** Says it to the bot: in a shared place with a mention. The result takes an edit of it. */
  says(text: string, place?: StagePlace): { edit(text: string): void };
  /** Says it in a shared place without a word to the bot. */
  mutters(text: string, place: StagePlace): void;
  /** Answers the bot's newest message there, without a mention. */
  replies(text: string, place: StagePlace): void;
  uploads(name: string, bytes: Buffer, text: string, place?: StagePlace): void;
  /** Sends pictures at once, as an album where the platform has albums. */
  uploadsPictures(count: number, text: string): void;
  /** Gives a command of the gateway, such as `status` or `queue buy milk`, in the way of the platform and place. */
  commands(line: string, place?: StagePlace): void;
  /** Presses the newest button with this label. Resolves once the platform was answered. */
  presses(label: string, place?: StagePlace): Promise<void>;
  /** Presses Deny, and gives the reason in a form where the platform has forms. */
  denies(reason: string, place?: StagePlace): Promise<void>;
  /** What only this person was shown: toasts, alerts, ephemeral messages. */
  told(): readonly string[];
}

/** A shared chat with topics or threads. */
export interface StageRoom extends StagePlace {
  openThread(title: string): StagePlace;
}

/** A platform that wants a first answer within a time, and whose emulator measures it. */
export interface TimedPlatform extends StagePlatform {
  /** How long each first answer took, in milliseconds; undefined while there is none. */
  answersMs(): (number | undefined)[];
}

/** One platform's emulator, with the people who use it: the same acts on each. */
export interface StagePlatform {
  name: 'telegram' | 'discord' | 'slack';
  /** What the gateway needs to connect. */
  env: Readonly<Record<string, string>>;
  /** More bytes than the bot fetches, and what it says of the limit. */
  tooLarge: { bytes: number; limit: string };
  /** Longest text of one message, in UTF-16 units. */
  messageUnits: number;
  addPerson(name: string): StagePerson;
  addRoom(title: string, people: readonly StagePerson[]): StageRoom;
  /** The bot's messages, oldest first; those of threads only when the place names the thread. */
  shown(place: StagePlace): StageMessage[];
  faults: {
    /** The next message is refused with the order to wait. */
    rateLimit(seconds: number): void;
    /** The connection over which events come breaks. */
    dropConnection(): void;
    /** The last events come again. */
    redeliver(): void;
  };
  /** What all that the bot ever sent would do to its readers: previews, edits, captions and private words too. */
  effects(): Effects;
  described(): Described;
  /** Methods that the API's description is too old to know. */
  newMethods: readonly string[];
  /** Rules of the API that calls broke. */
  violations(): readonly string[];
  close(): Promise<void>;
}
