import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Card } from '../../platforms/platform.ts';
import { GatewayError } from '../../src/errors.ts';
import { createPlatformMemory } from '../support/platform-memory.ts';
import { findChromium, launchBrowser } from './support/browser.ts';
import { startWebGateway, testToken, type WebGateway } from './support/web-gateway.ts';

const executable = findChromium();
const command = 'rm -rf build && git push --force origin main';
const screenshots = process.env['SCREENSHOTS'];

function approvalCard(change: Partial<Card> = {}): Card {
  return {
    title: 'May I run this?',
    tone: 'warning',
    blocks: [
      { kind: 'code', text: command, marks: [{ start: 0, end: 12 }] },
      {
        kind: 'facts',
        facts: [
          { label: 'Why', text: 'deletes a folder and all in it' },
          { label: 'Where', text: 'local, /home/ann/project' },
          { label: 'Reach', text: '12 files, 48 kB' },
          { label: 'Asked by', text: 'Ann' },
        ],
      },
    ],
    buttons: [
      [
        { id: 'a:1:once', label: '✅ Once', style: 'success' },
        { id: 'a:1:session', label: '🔁 Session', style: 'primary' },
      ],
      [
        { id: 'a:1:always', label: '♾ Always', style: 'primary', confirm: 'Allow this from now on?' },
        { id: 'a:1:deny', label: '⛔ Deny', style: 'danger' },
      ],
    ],
    expiresAt: Date.now() + 300_000,
    ...change,
  };
}

describe.runIf(executable !== undefined)('the web page in a real browser', () => {
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  let gateway: WebGateway;
  const problems: string[] = [];

  beforeAll(async () => {
    browser = await launchBrowser(executable ?? '');
  });
  afterAll(() => browser.close());

  beforeEach(async () => {
    problems.length = 0;
    gateway = await startWebGateway();
    await openPage({});
  });
  afterEach(async () => {
    await context.close();
    await gateway.stop();
    expect(problems).toEqual([]);
  });

  async function openPage(options: Parameters<Browser['newContext']>[0]): Promise<void> {
    context = await browser.newContext({
      locale: 'en-GB',
      viewport: { width: 1200, height: 800 },
      ...options,
    });
    page = await context.newPage();
    page.on('pageerror', (error) => problems.push(error.message));
    page.on('console', (line) => {
      if (/Content Security Policy|Refused to/.test(line.text())) problems.push(line.text());
    });
    await page.goto(`${gateway.url}/?token=${testToken}`);
    await page.getByPlaceholder('Message').waitFor();
  }

  async function reopen(options: Parameters<Browser['newContext']>[0]): Promise<void> {
    await context.close();
    await openPage(options);
  }

  async function say(text: string): Promise<void> {
    const before = gateway.said.length;
    await page.getByPlaceholder('Message').fill(text);
    await page.keyboard.press('Enter');
    await expect.poll(() => gateway.said.length).toBe(before + 1);
  }

  async function shoot(name: string): Promise<void> {
    if (screenshots !== undefined) await page.screenshot({ path: `${screenshots}/${name}.png` });
  }

  const log = () => page.getByRole('log');

  async function overflow(): Promise<number> {
    return page.evaluate(`Math.max(
      document.documentElement.scrollWidth - document.documentElement.clientWidth,
      document.getElementById('scroll').scrollWidth - document.getElementById('scroll').clientWidth)`);
  }

  it('lets the owner in by the printed URL and keeps the token out of the address', async () => {
    expect(page.url()).not.toContain(testToken);
    await page.getByRole('heading', { name: 'What can I do for you?' }).waitFor();
    await shoot('welcome');
  });

  it('asks a stranger for the token and lets him in with it', async () => {
    const stranger = await (await browser.newContext()).newPage();
    await stranger.goto(gateway.url);
    await stranger.getByLabel('Token').fill('a guess');
    await stranger.getByRole('button').click();
    await stranger.getByText('does not fit').waitFor();
    await stranger.getByLabel('Token').fill(testToken);
    await stranger.getByRole('button').click();
    await stranger.getByPlaceholder('Message').waitFor();
    await stranger.context().close();
  });

  it('sends what is said and shows the answer as it streams', async () => {
    await say('tell me a story');
    expect(gateway.said[0]).toMatchObject({ text: 'tell me a story', sender: { id: 'web', name: 'Ann' } });
    const id = await gateway.send({ kind: 'text', markdown: 'Once upon ▉' });
    await page.locator('.streaming', { hasText: 'Once upon' }).waitFor();
    await gateway.edit(id, { kind: 'text', markdown: 'Once upon a **time** ▉' });
    await page.locator('.streaming strong', { hasText: 'time' }).waitFor();
    await gateway.edit(id, { kind: 'text', markdown: 'Once upon a **time**.' });
    await page.locator('.prose:not(.streaming)', { hasText: 'Once upon a time.' }).waitFor();
    expect(await page.locator('.is-text').count()).toBe(1);
  });

  it('shows a card with the dangerous part marked, sends the press and shows the outcome', async () => {
    await say('delete the folder build');
    await gateway.web.showActivity(gateway.chat(), 'working', AbortSignal.timeout(1_000));
    await gateway.send({ kind: 'progress', lines: ['💻 terminal: "ls -la"', '💻 terminal: "du -sh build"'] });
    const id = await gateway.send({ kind: 'card', card: approvalCard() });
    await page.locator('mark', { hasText: 'rm -rf build' }).waitFor();
    await page
      .getByRole('timer')
      .filter({ hasText: /[45]:\d\d left/ })
      .waitFor();
    await shoot('card');
    await page.getByRole('button', { name: 'Once' }).click();
    await expect
      .poll(() => gateway.presses)
      .toMatchObject([{ buttonId: 'a:1:once', messageId: id, sender: { id: 'web' } }]);
    const outcome = approvalCard({ title: 'Approved once by Ann, 12:31', tone: 'success', buttons: [] });
    await gateway.edit(id, { kind: 'card', card: outcome });
    await log().getByText('Approved once by Ann, 12:31').waitFor();
    expect(await page.locator('.card button').count()).toBe(0);
    await shoot('outcome');
  });

  it('asks once more before a press that says so', async () => {
    await say('delete the folder build');
    await gateway.send({ kind: 'card', card: approvalCard() });
    await page.getByRole('button', { name: 'Always' }).click();
    await page.getByRole('dialog').getByText('Allow this from now on?').waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'Always' }).click();
    await page.getByRole('button', { name: 'Continue' }).click();
    await expect.poll(() => gateway.presses.map(({ buttonId }) => buttonId)).toEqual(['a:1:always']);
  });

  it('asks why on a button that wants a reason, and Enter sends it', async () => {
    await say('delete the folder build');
    const deny = { id: 'a:1:deny', label: '⛔ Deny', style: 'danger', askInput: 'Why not?' } as const;
    await gateway.send({ kind: 'card', card: approvalCard({ buttons: [[deny]] }) });
    await page.getByRole('button', { name: 'Deny' }).click();
    await page.getByLabel('Why not?').fill('too much');
    await page.keyboard.press('Enter');
    await expect.poll(() => gateway.presses).toMatchObject([{ buttonId: 'a:1:deny', input: 'too much' }]);
  });

  it('says why a press was refused and keeps the card', async () => {
    await say('delete the folder build');
    gateway.pressReply = { text: 'Only Ann or an admin can decide this.', alert: true };
    await gateway.send({ kind: 'card', card: approvalCard() });
    await page.getByRole('button', { name: 'Once' }).click();
    await page.locator('.toast', { hasText: 'Only Ann or an admin can decide this.' }).waitFor();
    await expect
      .poll(() => page.getByRole('button', { name: 'Once' }).isEnabled(), { timeout: 5_000 })
      .toBe(true);
  });

  it('takes the buttons out of use when the time is up', async () => {
    await say('delete the folder build');
    await gateway.send({ kind: 'card', card: approvalCard({ expiresAt: Date.now() + 1_200 }) });
    await page.getByText('Time is up').waitFor();
    expect(await page.getByRole('button', { name: 'Once' }).isDisabled()).toBe(true);
  });

  it('shows the hidden signs of a command', async () => {
    await say('run it');
    const card = approvalCard({ blocks: [{ kind: 'code', text: 'ls \u202e/ fr- mr' }] });
    await gateway.send({ kind: 'card', card });
    await page.locator('.command .hidden-sign', { hasText: 'U+202E' }).waitFor();
  });

  it('makes nothing of markup that a message brings', async () => {
    await say('<img src=x onerror="window.hacked=1">');
    const hostile = [
      '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>',
      '[press me](javascript:window.hacked=1) ![pic](https://example.org/track.png)',
      '[data](data:text/html,<script>window.hacked=1</script>)',
      '<svg onload="window.hacked=1">',
      '| <b onclick=x> | `<i>` |\n|---|---|\n| a < b & c | "d" |',
    ].join('\n\n');
    await gateway.send({ kind: 'text', markdown: hostile });
    await log().getByText('press me').click();
    expect(await page.evaluate('window.hacked')).toBeUndefined();
    expect(await page.locator('#log :is(img, svg, script, b, i)').count()).toBe(0);
    expect(
      await page.locator('#log a').evaluateAll((links) => links.map((link) => link.getAttribute('href'))),
    ).toEqual(['https://example.org/track.png']);
    await log().getByText('a < b & c').waitFor();
    await page.locator('.is-said', { hasText: '<img src=x onerror="window.hacked=1">' }).waitFor();
  });

  it('survives markup that no one can lay out', async () => {
    await say('nest');
    await gateway.send({ kind: 'text', markdown: `${'> '.repeat(4_000)}deep` });
    await gateway.send({ kind: 'text', markdown: 'still here' });
    await log().getByText('still here').waitFor();
    problems.length = 0;
  });

  it('fits a phone of 390 pixels, whatever it shows', async () => {
    await reopen({
      viewport: { width: 390, height: 844 },
      isMobile: true,
      hasTouch: true,
      deviceScaleFactor: 2,
    });
    await shoot('phone-welcome');
    await page.getByPlaceholder('Message').fill('delete the folder build, please, and push');
    await page.getByRole('button', { name: 'Send' }).click();
    await expect.poll(() => gateway.said.length).toBe(1);
    await gateway.send({ kind: 'progress', lines: [`💻 terminal: "${'x'.repeat(200)}"`] });
    await gateway.send({
      kind: 'text',
      markdown: `## Plan\n\nA ${'verylongword'.repeat(30)}\n\n\`\`\`sh\n${'echo long '.repeat(40)}\n\`\`\`\n\n| ${'wide | '.repeat(12)}\n|${'---|'.repeat(12)}\n| ${'cell value | '.repeat(12)}\n\n- [x] done\n- [ ] open`,
    });
    expect(await overflow()).toBeLessThanOrEqual(0);
    await gateway.send({
      kind: 'card',
      card: approvalCard({
        blocks: [
          { kind: 'code', text: `rm -rf ${'/a/very/long/path'.repeat(12)}` },
          ...approvalCard().blocks.slice(1),
        ],
      }),
    });
    await page.getByRole('button', { name: 'Once' }).waitFor();
    expect(await overflow()).toBeLessThanOrEqual(0);
    const size = await page.evaluate("getComputedStyle(document.getElementById('words')).fontSize");
    expect(size).toBe('16px');
    await shoot('phone-card');
    await page.getByRole('button', { name: 'Chats' }).click();
    await page.getByRole('button', { name: 'New chat' }).waitFor();
    await shoot('phone-drawer');
  });

  it('shows the history again after a reload and goes on in the same chat', async () => {
    await say('remember me');
    await gateway.send({ kind: 'text', markdown: 'I do.' });
    await log().getByText('I do.').waitFor();
    await page.reload();
    await page.locator('.prose', { hasText: 'I do.' }).waitFor();
    await say('still there?');
    expect(gateway.said[1]?.chat).toEqual(gateway.said[0]?.chat);
  });

  it('keeps several chats apart and finds its way between them', async () => {
    await say('first chat');
    await gateway.send({ kind: 'text', markdown: 'answer one' });
    await page.getByRole('button', { name: 'New chat' }).click();
    await say('second chat');
    await gateway.send({ kind: 'text', markdown: 'answer two' });
    await page.locator('.prose', { hasText: 'answer two' }).waitFor();
    expect(await log().getByText('answer one').count()).toBe(0);
    await page.getByRole('button', { name: 'first chat' }).click();
    await page.locator('.prose', { hasText: 'answer one' }).waitFor();
    expect(gateway.said[0]?.chat.chatId).not.toBe(gateway.said[1]?.chat.chatId);
    await shoot('chats');
  });

  it('deletes a chat after asking', async () => {
    await say('forget this');
    await page.getByRole('button', { name: 'Delete this chat' }).click();
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('heading', { name: 'What can I do for you?' }).waitFor();
    await expect.poll(() => page.getByRole('button', { name: 'forget this' }).count()).toBe(0);
  });

  it('keeps a message that the gateway could not store and sends it again, once', async () => {
    gateway.failNextReceive.push(new GatewayError('store_full', 'The disk is full.'));
    await page.getByPlaceholder('Message').fill('do not lose me');
    await page.keyboard.press('Enter');
    await expect.poll(() => gateway.said.length, { timeout: 10_000 }).toBe(1);
    await page.locator('.is-said:not(.waiting)', { hasText: 'do not lose me' }).waitFor();
    expect(gateway.said.map(({ text }) => text)).toEqual(['do not lose me']);
    expect(await page.locator('.is-said').count()).toBe(1);
  });

  it('offers the commands while one is typed and completes the chosen one', async () => {
    await page.getByPlaceholder('Message').fill('/st');
    await page.getByRole('option').filter({ hasText: '/status' }).waitFor();
    await shoot('hints');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    expect(await page.getByPlaceholder('Message').inputValue()).toBe('/stop ');
    await page.keyboard.press('Enter');
    await expect.poll(() => gateway.said.map(({ text }) => text)).toEqual(['/stop']);
  });

  it('uploads a file with a message and hands it to the gateway', async () => {
    const buffer = Buffer.from('hello');
    await page.locator('#file').setInputFiles({ name: 'notes.txt', mimeType: 'text/plain', buffer });
    await page.locator('#attached', { hasText: 'notes.txt' }).waitFor();
    await say('read this');
    expect(gateway.said[0]?.attachments).toMatchObject([{ kind: 'document', name: 'notes.txt', bytes: 5 }]);
    await page.locator('.is-said .attachment', { hasText: 'notes.txt' }).waitFor();
  });

  it('comes back after a restart of the gateway and shows what it missed', async () => {
    await context.close();
    await gateway.stop();
    const memory = createPlatformMemory();
    gateway = await startWebGateway({ memory });
    await openPage({});
    await say('are you there?');
    const { said } = gateway;
    const id = await gateway.send({ kind: 'card', card: approvalCard() });
    await page.getByRole('button', { name: 'Once' }).waitFor();
    await gateway.stop();
    await page.getByText('No connection to the gateway').waitFor();
    gateway = await startWebGateway({ memory, port: Number(new URL(gateway.url).port) });
    gateway.said.push(...said);
    await gateway.edit(id, {
      kind: 'card',
      card: approvalCard({ title: 'Expired', tone: 'neutral', buttons: [] }),
    });
    await gateway.send({ kind: 'text', markdown: 'back again' }, 'after-restart');
    await log().getByText('back again').waitFor();
    await page.locator('.card', { hasText: 'Expired' }).waitFor();
    expect(await page.locator('.card').count()).toBe(1);
  });

  it('is calm in the dark too', async () => {
    await reopen({ colorScheme: 'dark' });
    await say('delete the folder build');
    await gateway.send({
      kind: 'text',
      markdown: 'I found **12 files** in `build`.\n\n```sh\nls build | wc -l\n```',
    });
    await gateway.send({ kind: 'card', card: approvalCard() });
    await page.getByRole('button', { name: 'Once' }).waitFor();
    const background = await page.evaluate('getComputedStyle(document.body).backgroundColor');
    expect(background).toBe('rgb(23, 25, 28)');
    await shoot('dark');
  });
});
