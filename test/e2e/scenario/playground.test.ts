import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Playground, startPlayground } from '../../playground/playground.ts';
import { findChromium, launchBrowser } from '../support/browser.ts';

const executable = findChromium();
const screenshots = process.env['SCREENSHOTS'];

describe.runIf(executable !== undefined)('the playground', () => {
  let playground: Playground;
  let browser: Browser;
  let page: Page;
  const problems: string[] = [];

  beforeAll(async () => {
    playground = await startPlayground();
    browser = await launchBrowser(executable ?? '');
    page = await browser.newPage({ viewport: { width: 1440, height: 860 } });
    page.on('console', (message) => {
      if (message.type() === 'error') problems.push(message.text());
    });
    page.on('pageerror', (error) => problems.push(error.message));
    await page.goto(playground.url);
  });
  afterAll(async () => {
    if (screenshots !== undefined) await page.screenshot({ path: `${screenshots}/playground.png` });
    await browser.close();
    await playground.stop();
    expect(problems).toEqual([]);
    expect(playground.violations()).toEqual([]);
  });

  test.each([
    ['telegram', 'build'],
    ['discord', 'dist'],
    ['slack', 'coverage'],
  ])('lets a person write and decide on %s', async (name, folder) => {
    const column = page.locator(`.column.${name}`);
    const say = async (text: string) => {
      await column.getByRole('textbox').fill(text);
      await column.getByRole('button', { name: 'Send' }).click();
    };
    await say('read notes.txt');
    await column.getByText('Buy oat milk').waitFor();
    await column.getByRole('button', { name: `delete the folder ${folder}` }).click();
    await column.getByText('May I run this?').waitFor();
    await column.getByRole('button', { name: 'Once' }).click();
    await column.getByText(/Approved once by ann/i).waitFor();
    await expect.poll(() => column.getByRole('button', { name: 'Once' }).count()).toBe(0);
  });

  test('lets a stranger try, and shows the refusal to the stranger', async () => {
    const column = page.locator('.column.discord');
    await column.getByRole('button', { name: 'Thread' }).click();
    await column.getByRole('textbox').fill('run `rm -r src`');
    await column.getByRole('button', { name: 'Send' }).click();
    await column.getByText('May I run this?').waitFor();
    await column.getByLabel('Who is speaking').selectOption('bob');
    await column.getByRole('button', { name: 'Once' }).click();
    await column.getByText('Only Ann or an admin can decide this.').waitFor();
  });

  test('refuses requests of other sites and under other names', async () => {
    const at = (headers: Record<string, string>) =>
      fetch(`${playground.url}/acts`, { method: 'POST', headers, body: '{}' }).then(({ status }) => status);
    expect(await at({ 'content-type': 'application/json', 'sec-fetch-site': 'cross-site' })).toBe(403);
    expect(await at({ 'content-type': 'text/plain' })).toBe(415);
  });
});
