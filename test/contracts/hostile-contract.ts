import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Card, ChatAddress, OutboundContent } from '../../platforms/platform.ts';
import type { PlatformRig } from './platform-contract.ts';
import { createRecordingSink, type RecordingSink } from './recording-sink.ts';

/** What a model, a command, a file or a person's name may hold in order to ping somebody or lead them astray. */
const hostile =
  '<!channel> <!here|here> @everyone @here <@U123> <@4242> <@&42> <#C1> <!subteam^S1> @durov ' +
  '[x](javascript:alert(1)) [me](tg://user?id=1) <javascript:alert(1)|y> [d](data:text/html,x) ![p](file:///etc/passwd) ' +
  '<a href="javascript:alert(1)">z</a> &lt;!channel&gt; `<!channel> @everyone`';

const card: Card = {
  title: `May I? ${hostile.slice(0, 100)}`,
  tone: 'warning',
  blocks: [
    { kind: 'code', text: `echo "${hostile}"`, marks: [{ start: 0, end: 20 }] },
    { kind: 'code', text: `\`\`\`\n${hostile}` },
    { kind: 'text', text: hostile },
    { kind: 'facts', facts: [{ label: '@everyone <!here>', text: hostile }] },
  ],
  buttons: [
    [{ id: 'a:1', label: '<!channel> @everyone', style: 'danger', confirm: hostile, askInput: '<!channel>' }],
  ],
  footer: hostile,
};

/** Whatever is said and wherever it is put, it pings nobody and links to the web only: seen on each request. */
export function hostileContract(name: string, start: () => Promise<PlatformRig>): void {
  describe(`hostile text on ${name}`, () => {
    let rig: PlatformRig;
    let sink: RecordingSink;
    let folder: string;
    let keys = 0;

    beforeEach(async () => {
      folder = await mkdtemp(join(tmpdir(), 'hostile-contract-'));
      rig = await start();
      sink = createRecordingSink();
      await rig.platform.connect(sink, [], AbortSignal.timeout(10_000));
    });
    afterEach(async () => {
      await rig.platform.disconnect();
      await rig.close();
      await rm(folder, { recursive: true, force: true });
      expect(rig.violations()).toEqual([]);
      expect(rig.effects().pings).toEqual([]);
      expect(rig.effects().links.filter((link) => !/^https?:/.test(link))).toEqual([]);
    });

    const signal = () => AbortSignal.timeout(10_000);
    async function deliver(content: OutboundContent, chat: ChatAddress = rig.chat): Promise<string[]> {
      const ids: string[] = [];
      for (const payload of rig.platform.render(content)) {
        const key = `hostile${++keys}`;
        ids.push((await rig.platform.deliver(chat, payload, { key, signal: signal() })).messageId);
      }
      return ids;
    }
    const edit = async (id: string | undefined, content: OutboundContent) =>
      rig.platform.edit(rig.chat, id ?? '', rig.platform.render(content)[0] ?? {}, signal());
    const shown = (chat = rig.chat) => JSON.stringify(rig.shown(chat));

    test('in an answer, and in an edit of it', async () => {
      const [id] = await deliver({ kind: 'text', markdown: 'harmless' });
      await edit(id, { kind: 'text', markdown: hostile });
      await deliver({ kind: 'text', markdown: hostile });
      expect(shown()).toContain('everyone');
    });

    test('in a thread', async () => {
      if (rig.thread === null) return expect(rig.platform.capabilities.threads).toBe(false);
      await deliver({ kind: 'text', markdown: hostile }, rig.thread);
      expect(shown(rig.thread)).toContain('everyone');
    });

    test('in quotes, lists, tables, headings and emphasis', async () => {
      const cell = hostile.replaceAll('|', '/');
      await deliver({
        kind: 'text',
        markdown: `# ${hostile}\n\n> ${hostile}\n\n- ${hostile}\n\n**${hostile}**\n\n| ${cell} |\n|---|\n| ${cell} |`,
      });
      expect(shown()).toContain('everyone');
    });

    test('in any state of an answer that streams', async () => {
      const ends = Array.from({ length: Math.ceil(hostile.length / 7) }, (_, index) => 7 * (index + 1));
      const { stream, draftKinds } = rig.platform.capabilities;
      if (stream === 'draft' && draftKinds.includes(rig.chat.kind)) {
        for (const end of ends) await rig.platform.draft(rig.chat, 7, hostile.slice(0, end), signal());
        return;
      }
      const [id] = await deliver({ kind: 'text', markdown: hostile.slice(0, 7) });
      for (const end of ends) await edit(id, { kind: 'text', markdown: hostile.slice(0, end) });
    });

    test('in the lines of tool progress', async () => {
      const [id] = await deliver({ kind: 'progress', lines: [`💻 terminal: "${hostile}"`] });
      await edit(id, { kind: 'progress', lines: [hostile, hostile] });
      expect(shown()).toContain('everyone');
    });

    test('in every part of a card, and of its outcome', async () => {
      const [id] = await deliver({ kind: 'card', card });
      expect(shown()).toContain('everyone');
      await edit(id, {
        kind: 'card',
        card: { ...card, title: `Denied by ${hostile.slice(0, 90)}`, buttons: [] },
      });
    });

    test('in the caption and the name of a file', async () => {
      const path = join(folder, 'out.txt');
      await writeFile(path, 'the contents');
      const name = '<!channel> @everyone [x](javascript:alert(1)).txt';
      await deliver({ kind: 'file', path, name, as: 'document', caption: hostile });
      expect(rig.shown(rig.chat)[0]?.file?.bytes.toString()).toBe('the contents');
    });

    test('in what the presser of a button alone is told', async () => {
      await deliver({
        kind: 'card',
        card: { ...card, buttons: [[{ id: 'a:2', label: 'Once', style: 'success' }]] },
      });
      sink.reply = {
        text: `Only ${hostile.slice(0, 120)} can decide this.`,
        alert: true,
      };
      await rig.presses('Once');
      await expect.poll(() => rig.told().join()).toContain('can decide this.');
    });
  });
}
