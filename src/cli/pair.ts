import { systemClock } from '../clock.ts';
import { GatewayError } from '../errors.ts';
import { createPairing } from '../gateway/pairing.ts';
import { loadHome } from './load.ts';
import { print, printNote, printTable } from './print.ts';

const platforms = ['telegram', 'discord', 'slack'];

async function open(): Promise<ReturnType<typeof createPairing>> {
  const { home } = await loadHome();
  return createPairing(home, systemClock);
}

export async function list(): Promise<void> {
  const pairing = await open();
  const rows: string[][] = [];
  for (const platform of platforms) {
    const { approved, pending } = await pairing.list(platform);
    for (const user of approved) rows.push([platform, user.userId, user.name, 'approved']);
    for (const user of pending)
      rows.push([platform, user.userId, user.name, 'waits for its code to be approved']);
  }
  if (rows.length === 0) printNote('Nobody is paired, and nobody waits.');
  else printTable(rows);
}

function mustExist(platform: string): void {
  if (platforms.includes(platform)) return;
  throw new GatewayError('usage', `There is no platform "${platform}".`, {
    mend: `Choose one of ${platforms.join(', ')}.`,
  });
}

export async function approve(platform: string, code: string): Promise<void> {
  mustExist(platform);
  const outcome = await (await open()).approve(platform, code);
  if (outcome === 'locked') {
    throw new GatewayError('usage', 'Too many wrong codes: approvals are locked for an hour.', {
      mend: 'Try again later.',
    });
  }
  if (outcome === 'wrong') {
    throw new GatewayError('usage', `No one waits on ${platform} with that code.`, {
      mend: 'Codes are valid for an hour. Let the person write to the bot again for a new one.',
    });
  }
  print(`${outcome.name} (${outcome.userId}) may talk to the bot on ${platform}.`);
}

export async function revoke(platform: string, userId: string): Promise<void> {
  mustExist(platform);
  const found = await (await open()).revoke(platform, userId);
  if (!found) {
    throw new GatewayError('usage', `${userId} is not paired on ${platform}.`, {
      mend: 'hermes-gateway pair list shows who is. Ids of an allowlist are taken away in the configuration.',
    });
  }
  print(`${userId} may not talk to the bot on ${platform} any more.`);
}
