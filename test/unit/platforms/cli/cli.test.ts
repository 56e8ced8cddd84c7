import { PassThrough } from 'node:stream';
import { afterEach, describe, expect, it } from 'vitest';
import { type Cli, createCli } from '../../../../platforms/cli/cli.ts';
import type {
  Card,
  ChatAddress,
  InboundEvent,
  OutboundContent,
  Press,
} from '../../../../platforms/platform.ts';
import { type Clock, systemClock } from '../../../../src/clock.ts';
import { silentLog } from '../../../../src/log.ts';

const chat: ChatAddress = { platform: 'cli', kind: 'dm', chatId: 'cli' };
const signal = new AbortController().signal;

const card: Card = {
  title: 'May I run this?',
  tone: 'warning',
  blocks: [
    { kind: 'code', text: 'rm -rf build', marks: [{ start: 0, end: 6 }] },
    { kind: 'facts', facts: [{ label: 'Reach', text: '12 files' }] },
  ],
  buttons: [
    [
      { id: 'once', label: '✅ Once', style: 'success' },
      { id: 'session', label: '🔁 Session', style: 'primary' },
    ],
    [{ id: 'deny', label: '⛔ Deny', style: 'danger' }],
  ],
};

interface Terminal {
  cli: Cli;
  types(line: string): void;
  keys(sequence: string): void;
  end(): void;
  out(): string;
  err(): string;
  said: InboundEvent[];
  presses: Press[];
  send(content: OutboundContent): Promise<string>;
  edit(id: string, content: OutboundContent): Promise<void>;
}

describe('the terminal', () => {
  const open: Cli[] = [];
  afterEach(async () => {
    for (const cli of open.splice(0)) await cli.disconnect();
  });

  async function start(options: { tty?: boolean; query?: string; clock?: Clock } = {}): Promise<Terminal> {
    const { tty = false, query, clock = systemClock } = options;
    const stream = () => Object.assign(new PassThrough(), { isTTY: tty });
    const [input, output, errorOutput] = [stream(), stream(), stream()];
    const cli = createCli(
      { input, output, errorOutput, ...(query !== undefined && { query }) },
      { clock, log: silentLog },
    );
    open.push(cli);
    const printed = (from: PassThrough) => {
      let text = '';
      from.on('data', (bytes: Buffer) => {
        text += bytes.toString();
      });
      return () => text;
    };
    const terminal: Terminal = {
      cli,
      types: (line) => void input.write(`${line}\n`),
      keys: (sequence) => void input.write(sequence),
      end: () => void input.end(),
      out: printed(output),
      err: printed(errorOutput),
      said: [],
      presses: [],
      async send(content) {
        const [payload = {}] = cli.render(content);
        return (await cli.deliver(chat, payload, { key: 'k', signal })).messageId;
      },
      async edit(id, content) {
        const [payload = {}] = cli.render(content);
        await cli.edit(chat, id, payload, signal);
      },
    };
    await cli.connect(
      {
        receive: async (event) => void terminal.said.push(event),
        async press(press) {
          terminal.presses.push(press);
          return { text: 'Noted.', alert: false };
        },
        report: () => undefined,
        alive: () => undefined,
      },
      [],
      signal,
    );
    return terminal;
  }

  const text = (markdown: string): OutboundContent => ({ kind: 'text', markdown });

  it('sends each line that is typed', async () => {
    const terminal = await start();
    terminal.types('hello');
    await expect
      .poll(() => terminal.said)
      .toMatchObject([{ text: 'hello', sender: { id: 'cli' }, addressed: true }]);
  });

  it('prints an answer as it grows and never twice', async () => {
    const terminal = await start();
    const id = await terminal.send(text('Once ▉'));
    await terminal.edit(id, text('Once upon ▉'));
    await terminal.edit(id, text('Once upon a time.'));
    await expect.poll(terminal.out).toBe('Once upon a time.\n');
  });

  it('prints a text anew when what stands there is no more its beginning', async () => {
    const terminal = await start();
    const id = await terminal.send(text('Draft ▉'));
    await terminal.edit(id, text('Final answer.'));
    await expect.poll(terminal.out).toBe('Draft\nFinal answer.\n');
  });

  it('prints only the new lines of progress', async () => {
    const terminal = await start();
    const id = await terminal.send({ kind: 'progress', lines: ['terminal: "ls"'] });
    await terminal.edit(id, { kind: 'progress', lines: ['terminal: "ls"', 'terminal: "pwd"'] });
    await expect.poll(terminal.out).toBe('terminal: "ls"\nterminal: "pwd"\n');
  });

  it('lets no text of a model steer the terminal or turn its direction', async () => {
    const terminal = await start();
    await terminal.send(text('a\u001b]52;c;evil\u0007b \u202efr- mr'));
    await expect.poll(terminal.out).toBe('a\\u001b]52;c;evil\\u0007b \\u202efr- mr\n');
  });

  it.each([
    ['', 'deny'],
    ['1', 'once'],
    ['once', 'once'],
    ['s', 'session'],
    ['Deny', 'deny'],
  ])('takes the line "%s" before a card for the button %s', async (line, button) => {
    const terminal = await start();
    const messageId = await terminal.send({ kind: 'card', card });
    await expect.poll(terminal.out).toContain('(Enter: ⛔ Deny)');
    terminal.types(line);
    await expect.poll(() => terminal.presses).toMatchObject([{ buttonId: button, messageId }]);
    expect(terminal.said).toEqual([]);
  });

  it.each(['9', 'yes please', 'no idea'])(
    'takes the line "%s" before a card for words, never for consent',
    async (line) => {
      const terminal = await start();
      await terminal.send({ kind: 'card', card });
      terminal.types(line);
      await expect.poll(() => terminal.said.map((event) => event.text)).toEqual([line]);
      expect(terminal.presses).toEqual([]);
    },
  );

  it('decides waiting cards one after the other, the oldest first', async () => {
    const terminal = await start();
    const first = await terminal.send({ kind: 'card', card });
    const second = await terminal.send({ kind: 'card', card });
    terminal.types('1');
    terminal.types('');
    await expect
      .poll(() => terminal.presses)
      .toMatchObject([
        { messageId: first, buttonId: 'once' },
        { messageId: second, buttonId: 'deny' },
      ]);
  });

  it('prints the outcome in a line and takes no more decisions for that card', async () => {
    const terminal = await start();
    const id = await terminal.send({ kind: 'card', card });
    await terminal.edit(id, { kind: 'card', card: { ...card, title: 'Expired.', buttons: [] } });
    terminal.types('1');
    await expect.poll(() => terminal.said).toHaveLength(1);
    expect(terminal.presses).toEqual([]);
    expect(terminal.out().split('\n')).toContain('Expired.');
  });

  it('denies a waiting card when the input ends', async () => {
    const terminal = await start();
    await terminal.send({ kind: 'card', card });
    terminal.end();
    await expect.poll(() => terminal.presses).toMatchObject([{ buttonId: 'deny' }]);
  });

  it('stops the work at the first Ctrl-C and leaves at the second', async () => {
    const terminal = await start({ tty: true });
    terminal.keys('\u0003');
    await expect.poll(() => terminal.said.map((event) => event.text)).toEqual(['/stop']);
    terminal.keys('\u0003');
    await terminal.cli.finished;
  });

  it('leaves at /quit', async () => {
    const terminal = await start();
    terminal.types('/quit');
    await terminal.cli.finished;
    expect(terminal.said).toEqual([]);
  });

  it('asks once and prints nothing but the last answer', async () => {
    const terminal = await start({ query: 'what day is it?' });
    expect(terminal.said).toMatchObject([{ text: 'what day is it?' }]);
    await terminal.cli.showActivity(chat, 'working', signal);
    await terminal.send(text('Let me look.'));
    await terminal.send({ kind: 'progress', lines: ['terminal: "date"'] });
    await terminal.send(text('It is Tuesday.'));
    await terminal.cli.showActivity(chat, 'idle', signal);
    await terminal.cli.finished;
    await expect.poll(terminal.out).toBe('It is Tuesday.\n');
    expect(terminal.err()).toContain('terminal: "date"');
  });

  it('does not end a one-shot run while the bot is at work', async () => {
    const tasks: (() => void)[] = [];
    const clock: Clock = {
      now: () => 0,
      after(_, task) {
        tasks.push(task);
        return () => tasks.splice(0);
      },
    };
    const terminal = await start({ query: 'go', clock });
    await terminal.send(text('Let me look.'));
    expect(tasks).toHaveLength(1);
    await terminal.cli.showActivity(chat, 'working', signal);
    expect(tasks).toHaveLength(0);
  });

  it('refuses at once, and says why, what needs approval in a one-shot run without a person', async () => {
    const terminal = await start({ query: 'delete build' });
    expect(terminal.cli.capabilities.attended).toBe(false);
    await terminal.send({ kind: 'card', card });
    await expect.poll(() => terminal.presses).toMatchObject([{ buttonId: 'deny' }]);
    expect(terminal.err()).toContain('needs a person to approve it');
    expect(terminal.out()).toBe('');
  });
});
