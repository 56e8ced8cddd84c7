import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { textOf } from '../../emulators/openai/instant.ts';
import { openStage, type Stage } from './open-stage.ts';
import type { StageMessage, StagePerson, StagePlace, StagePlatform, StageRoom } from './stage.ts';

/** What a person lives through with the bot, the same on every platform. One gateway; each test has new people. */
export function scenario(name: string, open: () => Promise<StagePlatform>): void {
  describe(`a person on ${name}`, () => {
    let stage: Stage;
    let ann: StagePerson;
    let bob: StagePerson;
    let room: StageRoom;
    let serial = 0;

    beforeAll(async () => {
      stage = await openStage(open);
    });
    afterAll(() => stage.close());

    beforeEach(() => {
      ann = stage.platform.addPerson('Ann');
      bob = stage.platform.addPerson('Bob');
      room = stage.platform.addRoom(`team${++serial}`, [ann, bob]);
    });
    afterEach(() => {
      expect(stage.platform.violations()).toEqual([]);
      // Nothing that was ever shown, not even for a moment, pings anyone or leads elsewhere than to the web.
      const { pings, links } = stage.platform.effects();
      expect([...pings, ...links.filter((link) => !/^https?:/.test(link))]).toEqual([]);
    });

    const shows = (text: string | RegExp, place: StagePlace = ann.dm) => stage.until.botShows(text, place);
    const shown = (place: StagePlace = ann.dm) => stage.platform.shown(place);
    const holding = (text: string, place?: StagePlace) =>
      shown(place).filter((message) => message.text.includes(text));
    const asked = (text: string) =>
      stage.model.requests.filter(({ body }) => {
        const last = body.messages.at(-1);
        return last?.role === 'user' && textOf(last.content).includes(text);
      });

    /** Keeps the agent at work until `finish`. */
    async function keepBusy(place: StagePlace = ann.dm): Promise<{ finish(): Promise<void> }> {
      const gate = join(stage.folder, `gate${serial}`);
      ann.says(`run \`until [ -e ${gate} ]; do sleep 0.05; done; echo finished\``, place);
      await shows(/terminal/, place);
      return { finish: () => writeFile(gate, '') };
    }
    async function makeBuild(): Promise<string> {
      const folder = join(stage.folder, `build${serial}`);
      await mkdir(folder);
      await writeFile(join(folder, 'old.o'), 'x'.repeat(4_000));
      return folder;
    }

    test('is answered', async () => {
      ann.says('hello there');
      await shows('You said: hello there');
    });

    test('sees what the agent does, then the result', async () => {
      const work = await keepBusy();
      await work.finish();
      await shows('finished');
    });

    test('decides on a dangerous command by a card that becomes its outcome', async () => {
      const build = await makeBuild();
      ann.says(`run \`rm -r ${build}\``);
      const card = await shows('May I run this?');
      expect(card.text).toContain(`rm -r ${build}`);
      expect(card.buttons).toEqual(['✅ Once', '🔁 Session', '♾ Always', '⛔ Deny']);
      expect(existsSync(build)).toBe(true);
      await ann.presses('Once');
      expect(await shows(`Approved once by ${ann.name}`)).toMatchObject({ id: card.id, buttons: [] });
      await shows('The command said:');
      expect(existsSync(build)).toBe(false);
    });

    test('has nobody else decide', async () => {
      const build = await makeBuild();
      const thread = room.openThread('Cleaning');
      ann.says(`run \`rm -r ${build}\``, thread);
      await shows('May I run this?', thread);
      await bob.presses('Once', thread);
      await expect.poll(() => bob.told()).toEqual([`Only ${ann.name} or an admin can decide this.`]);
      expect(existsSync(build)).toBe(true);
      await ann.denies('not now', thread);
      expect((await shows(`Denied by ${ann.name}`, thread)).buttons).toEqual([]);
      await shows('The command said:', thread);
      expect(existsSync(build)).toBe(true);
    });

    test('reads a long answer in parts, nothing lost', async () => {
      const words = Array.from(
        { length: Math.floor(stage.platform.messageUnits / 3) },
        (_, index) => `w${index}`,
      );
      stage.model.say({ text: words.join(' '), pieceUnits: 2_000 });
      ann.says('tell me everything');
      await shows(new RegExp(`\\b${words.at(-1)}\\b`));
      await stage.until.holds(
        'the streamed part to be whole',
        () => wordsOf(shown()).length === words.length,
      );
      expect(wordsOf(shown())).toEqual(words);
      expect(shown().length).toBeGreaterThan(1);
    });

    test('gets a file', async () => {
      const path = join(stage.folder, `report${serial}.txt`);
      await writeFile(path, 'the contents');
      stage.model.say({ text: `Here it is.\n\nMEDIA:${path}` });
      ann.says('send me the report');
      await shows('Here it is.');
      await stage.until.holds('the file', () => shown().some(({ file }) => file !== undefined));
      const sent = shown().find(({ file }) => file !== undefined);
      expect(sent?.file).toEqual({ name: `report${serial}.txt`, bytes: Buffer.from('the contents') });
    });

    test('sends a file that the agent reads', async () => {
      ann.uploads('notes.txt', Buffer.from('buy oat milk'), 'what is in it?');
      const answer = await shows('buy oat milk');
      expect(answer.text).toContain('what is in it?');
    });

    test('sends four pictures at once, which are one message', async () => {
      ann.uploadsPictures(4, 'what are these?');
      await shows('what are these?');
      const [request, ...others] = asked('what are these?');
      expect(others).toEqual([]);
      const said = JSON.stringify(request?.body.messages.at(-1));
      expect(said.match(/saved as/g)).toHaveLength(4);
      expect(shown()).toHaveLength(1);
    });

    test('is told of a file that is too big, and of the limit', async () => {
      const { bytes, limit } = stage.platform.tooLarge;
      ann.uploads('film.mov', Buffer.alloc(bytes), 'watch this');
      const answer = await shows('watch this');
      expect(answer.text).toContain('could not be fetched');
      expect(answer.text).toContain(limit);
    });

    test('is not answered in a thread of others until called, and then by a reply alone', async () => {
      const thread = room.openThread('Lunch');
      ann.mutters('just between us', thread);
      bob.says('are you there?', thread);
      await shows('are you there?', thread);
      ann.replies('and what do you think?', thread);
      await shows('and what do you think?', thread);
      expect(holding('just between us', thread).filter(({ text }) => /You said: just/.test(text))).toEqual(
        [],
      );
      expect(shown(thread)).toHaveLength(2);
    });

    test('is heard in a thread by a mention that stands under a file', async () => {
      const thread = room.openThread('Files');
      ann.uploads('notes.txt', Buffer.from('buy oat milk'), 'read this to me', thread);
      expect((await shows('buy oat milk', thread)).text).toContain('read this to me');
    });

    test('corrects a message that still waits', async () => {
      const work = await keepBusy();
      const second = ann.says('frist draft');
      await shows('Your message is next in line');
      second.edit('final wording');
      // The answer to a command shows that what came before it is through.
      ann.commands('whoami');
      await stage.until.holds('the answer to the command', () =>
        JSON.stringify([shown(), ann.told()]).includes('You are'),
      );
      await work.finish();
      await shows('You said: final wording');
      expect(asked('frist draft')).toEqual([]);
    });

    test('has a conversation of its own in each thread, and all of it stays there', async () => {
      const [plans, bugs] = [room.openThread('Plans'), room.openThread('Bugs')];
      const build = await makeBuild();
      ann.says('the word is pineapple', plans);
      await shows('pineapple', plans);
      ann.says('what was the word?', bugs);
      await shows('what was the word?', bugs);
      expect(JSON.stringify(asked('what was the word?'))).not.toContain('pineapple');
      ann.says(`run \`rm -r ${build}\``, plans);
      await shows('May I run this?', plans);
      await ann.presses('Once', plans);
      await shows('The command said:', plans);
      expect(shown(room)).toEqual([]);
      expect(shown(bugs)).toHaveLength(1);
    });

    test('reads the answer to a command alone, where the platform can show it so', async () => {
      ann.commands('whoami', room);
      await stage.until.holds('the answer', () =>
        JSON.stringify([shown(room), ann.told()]).includes('You are'),
      );
      expect(shown(room)).toHaveLength(stage.platform.name === 'telegram' ? 1 : 0);
      expect(bob.told()).toEqual([]);
    });

    test('stops what runs', async () => {
      const thread = room.openThread('Work');
      await keepBusy(thread);
      ann.commands('stop', thread);
      await stage.until.holds('the word that it stopped', () =>
        JSON.stringify([shown(thread), ann.told()]).includes('Stopped.'),
      );
      ann.says('and now?', thread);
      await shows(/You said: .*and now\?/, thread);
      expect(holding('finished', thread)).toEqual([]);
    });

    test('reads answers in their order though the platform asked for patience', async () => {
      stage.platform.faults.rateLimit(1);
      ann.says('say one');
      await stage.until.holds('the first question', () => asked('say one').length === 1);
      ann.says('say two');
      await shows('You said: say two');
      const texts = shown().map(({ text }) => text);
      const place = (text: string) => texts.findIndex((each) => each.includes(text));
      expect(place('You said: say one')).toBeGreaterThanOrEqual(0);
      expect(place('You said: say one')).toBeLessThan(place('You said: say two'));
    });

    test('is answered once though the connection dropped as they wrote', async () => {
      stage.platform.faults.dropConnection();
      ann.says('can you hear me');
      await shows('You said: can you hear me');
      ann.says('good');
      await shows('You said: good');
      expect(holding('can you hear me')).toHaveLength(1);
      expect(asked('can you hear me')).toHaveLength(1);
    });

    test('is answered once though the message came twice', async () => {
      ann.says('once only');
      await shows('You said: once only');
      stage.platform.faults.redeliver();
      ann.says('after that');
      await shows('You said: after that');
      expect(holding('once only')).toHaveLength(1);
      expect(asked('once only')).toHaveLength(1);
    });

    test('is neither pinged nor led anywhere by what the model says', async () => {
      const thread = room.openThread('Trap');
      const hostile = `<!channel> @everyone <@U123> <@${bob.id}> [me](tg://user?id=${bob.id}) [x](javascript:alert(1))`;
      stage.model.say({ text: `Look: ${hostile} [docs](https://example.com/docs)` });
      ann.says('say something', thread);
      const answer: StageMessage = await shows('Look:', thread);
      expect(answer.text).toContain('everyone');
      expect(answer.pings).toEqual([]);
      expect(new Set(answer.links)).toEqual(new Set(['https://example.com/docs']));
    });

    test('is neither pinged nor led anywhere by a command, its card, its outcome or its file', async () => {
      const thread = room.openThread('Trap');
      const hostile = `<!channel> @everyone <@${bob.id}> [x](javascript:alert(1))`;
      ann.says(`run \`echo '${hostile}'; rm -r ${await makeBuild()}\``, thread);
      await shows('May I run this?', thread);
      await ann.presses('Once', thread);
      expect((await shows('The command said:', thread)).text).toContain('everyone');
      const path = join(stage.folder, `@everyone [x](javascript:alert(1)) ${serial}.txt`);
      await writeFile(path, 'x');
      stage.model.say({ text: `Look ${hostile}\n\nMEDIA:${path}` });
      ann.says('and the file?', thread);
      await stage.until.holds('the file', () => shown(thread).some(({ file }) => file !== undefined));
    });

    test('is neither pinged nor led anywhere by an error', async () => {
      const hostile = `<!channel> @everyone <@${bob.id}> [x](javascript:alert(1))`;
      stage.model.fail({ kind: 'status', status: 400, message: hostile });
      ann.says('go on');
      await shows(/error [0-9a-f]{6}/);
    });

    test.runIf(existsSync('../shared/api-specs'))(
      'had each request held against the description of the API',
      () => {
        const { checked, unknown } = stage.platform.described();
        expect(unknown.filter((method) => !stage.platform.newMethods.includes(method))).toEqual([]);
        expect(checked).toBeGreaterThan(50);
      },
    );
  });
}

function wordsOf(messages: readonly StageMessage[]): string[] {
  return messages.flatMap(({ text }) => text.match(/\bw\d+\b/g) ?? []);
}
