import { z } from 'zod';
import type { StagePerson, StagePlace, StagePlatform } from '../e2e/scenario/stage.ts';

const who = z.enum(['ann', 'bob']);
const where = z.enum(['dm', 'team']);

/** What a person does on the page. */
export const act = z.discriminatedUnion('do', [
  z.strictObject({ do: z.literal('says'), who, where, text: z.string().trim().min(1).max(10_000) }),
  z.strictObject({
    do: z.literal('uploads'),
    who,
    where,
    text: z.string().max(1_000),
    name: z.string().min(1).max(200),
    base64: z.base64(),
  }),
  z.strictObject({
    do: z.literal('presses'),
    who,
    where,
    label: z.string().min(1),
    reason: z.string().max(500),
  }),
]);
export type Act = z.infer<typeof act>;

type Who = z.infer<typeof who>;
type Where = z.infer<typeof where>;

export type EntryView =
  | { kind: 'said'; who: string; text: string; file?: string }
  /** Shown to this person alone. */
  | { kind: 'told'; who: string; text: string }
  | {
      kind: 'bot';
      id: string;
      text: string;
      markdown: boolean;
      buttons: readonly string[];
      file?: string;
    };

export interface ColumnView {
  name: string;
  places: Readonly<Record<Where, EntryView[]>>;
}

type Entry = Exclude<EntryView, { kind: 'bot' }> | { kind: 'bot'; id: string };

/** One platform on the page: two people, a private chat of the one, a thread that both are in. */
export interface Column {
  name: string;
  perform(act: Act): Promise<void>;
  view(): ColumnView;
  /** A file that the bot sent; null when there is none. */
  file(where: string, id: string): { name: string; bytes: Buffer } | null;
}

export function createColumn(platform: StagePlatform): Column {
  const people = { ann: platform.addPerson('Ann'), bob: platform.addPerson('Bob') };
  const team = platform.addRoom('team', [people.ann, people.bob]).openThread('Team talk');
  const places: Record<Where, StagePlace> = { dm: people.ann.dm, team };
  const logs: Record<Where, Entry[]> = { dm: [], team: [] };
  const heard: Record<Who, { count: number; where: Where }> = {
    ann: { count: 0, where: 'dm' },
    bob: { count: 0, where: 'team' },
  };

  /** The platforms keep no common clock, so things stand in the order in which they were first seen. */
  function lookAround(): void {
    for (const where of ['dm', 'team'] as const) {
      const known = new Set(logs[where].flatMap((entry) => (entry.kind === 'bot' ? [entry.id] : [])));
      for (const { id } of platform.shown(places[where]))
        if (!known.has(id)) logs[where].push({ kind: 'bot', id });
    }
    for (const name of ['ann', 'bob'] as const) {
      const ear = heard[name];
      for (const text of people[name].told().slice(ear.count)) {
        ear.count += 1;
        if (text !== '') logs[ear.where].push({ kind: 'told', who: people[name].name, text });
      }
    }
  }

  function viewOf(where: Where): EntryView[] {
    const shown = new Map(platform.shown(places[where]).map((message) => [message.id, message]));
    return logs[where].flatMap((entry): EntryView[] => {
      if (entry.kind !== 'bot') return [entry];
      const message = shown.get(entry.id);
      if (message === undefined) return [];
      const { id, text, markdown, buttons, file } = message;
      return [{ kind: 'bot', id, text, markdown, buttons, ...(file !== undefined && { file: file.name }) }];
    });
  }

  return {
    name: platform.name,
    async perform(act) {
      lookAround();
      const person: StagePerson = people[act.who];
      const place = places[act.where];
      heard[act.who].where = act.where;
      switch (act.do) {
        case 'says':
          logs[act.where].push({ kind: 'said', who: person.name, text: act.text });
          if (/^[/!]\w/.test(act.text)) person.commands(act.text.slice(1), place);
          else person.says(act.text, place);
          return;
        case 'uploads':
          logs[act.where].push({ kind: 'said', who: person.name, text: act.text, file: act.name });
          person.uploads(act.name, Buffer.from(act.base64, 'base64'), act.text, place);
          return;
        case 'presses':
          if (act.label.includes('Deny')) await person.denies(act.reason, place);
          else await person.presses(act.label, place);
      }
    },
    view() {
      lookAround();
      return { name: platform.name, places: { dm: viewOf('dm'), team: viewOf('team') } };
    },
    file(where, id) {
      const place = where === 'dm' || where === 'team' ? places[where] : undefined;
      if (place === undefined) return null;
      return platform.shown(place).find((message) => message.id === id)?.file ?? null;
    },
  };
}
