import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { findChromium, launchBrowser } from './support/browser.ts';
import { type GatewayProcess, startGatewayProcess } from './support/gateway-process.ts';

const executable = findChromium();
const screenshots = process.env['SCREENSHOTS'];

/** What a new user sees: the printed address in a real browser, the offline model, no key, no bot. */
describe.runIf(executable !== undefined)('a fresh start in a real browser', () => {
  let browser: Browser;
  let gateway: GatewayProcess;
  let page: Page;

  beforeAll(async () => {
    browser = await launchBrowser(executable ?? '');
  });
  afterAll(() => browser.close());

  async function open(): Promise<void> {
    gateway = await startGatewayProcess();
    await mkdir(join(gateway.home, 'build'));
    for (let index = 0; index < 12; index += 1) {
      await writeFile(join(gateway.home, 'build', `file${index}`), 'x'.repeat(4_000));
    }
    page = await browser.newPage({ viewport: { width: 900, height: 720 }, deviceScaleFactor: 2 });
    await page.goto(gateway.openUrl);
  }
  afterEach(async () => {
    await page.close();
    await gateway.dispose();
  });

  const say = async (text: string) => {
    await page.getByRole('textbox').fill(text);
    await page.keyboard.press('Enter');
  };
  const folder = () => join(gateway.home, 'build');

  it('deletes a folder after a tap on Once, and shows the reach before', async () => {
    await open();
    await say('delete the folder build');
    await page.getByText('12 files, 48 kB').waitFor();
    if (screenshots) await page.screenshot({ path: join(screenshots, 'card.png') });
    expect(existsSync(folder())).toBe(true);
    await page.getByRole('button', { name: /Once/ }).click();
    await page.getByRole('heading', { name: /Approved once by you/ }).waitFor();
    await expect.poll(() => existsSync(folder())).toBe(false);
    if (screenshots) await page.screenshot({ path: join(screenshots, 'approved.png') });
  });

  it('takes the tap after the gateway was killed and started again', async () => {
    await open();
    await say('delete the folder build');
    await page.getByRole('button', { name: /Once/ }).waitFor();
    await gateway.kill();
    await gateway.restart();
    await page.getByRole('button', { name: /Once/ }).click();
    await page.getByRole('heading', { name: /Approved once by you/ }).waitFor({ timeout: 15_000 });
    await expect.poll(() => existsSync(folder())).toBe(false);
  });

  it('does nothing after Deny, and says so', async () => {
    await open();
    await say('delete the folder build');
    await page.getByRole('button', { name: /Deny/ }).click();
    await page.locator('#ask input, #ask textarea').fill('not now');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: /Denied by you.*not now/ }).waitFor();
    expect(existsSync(folder())).toBe(true);
  });
});
