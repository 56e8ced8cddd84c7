import { describe, expect, it } from 'vitest';
import { type AccessRules, accessOf } from '../../../../src/gateway/access.ts';

const closed: AccessRules = {
  selfAuthenticating: false,
  allowedUsers: [],
  allowedRoles: [],
  allowedChats: [],
  admins: [],
  allowAll: false,
  allowBots: 'none',
  strangers: 'pair',
};
const dm = { platform: 'telegram', kind: 'dm', chatId: '1' } as const;
const group = { platform: 'telegram', kind: 'group', chatId: '-5' } as const;
const caller = (change: object = {}, chat: typeof dm | typeof group = dm) => ({
  sender: { id: '7', name: 'Ann', isBot: false, ...change },
  chat,
  addressed: true,
});
const unpaired = async () => false;
const access = async (who: ReturnType<typeof caller>, rules: Partial<AccessRules> = {}, paired = unpaired) =>
  accessOf(who, { ...closed, ...rules }, paired);

describe('who may speak to the bot', () => {
  it('nobody, while nobody is named', async () => {
    expect(await access(caller())).toEqual({ kind: 'stranger', mayPair: true });
    expect(await access(caller({}, group))).toEqual({ kind: 'stranger', mayPair: false });
  });

  it('those named by id, never by name', async () => {
    expect(await access(caller(), { allowedUsers: ['7'] })).toEqual({ kind: 'allowed', isAdmin: false });
    expect(await access(caller(), { allowedUsers: ['Ann'] })).toMatchObject({ kind: 'stranger' });
  });

  it('those paired, those of an allowed chat, those with an allowed role', async () => {
    expect(await access(caller(), {}, async () => true)).toMatchObject({ kind: 'allowed' });
    expect(await access(caller({}, group), { allowedChats: ['-5'] })).toMatchObject({ kind: 'allowed' });
    expect(await access(caller({ roles: ['r'] }), { allowedRoles: ['r'] })).toMatchObject({
      kind: 'allowed',
    });
  });

  it('admins, who are admins for approvals too', async () => {
    expect(await access(caller(), { admins: ['7'] })).toEqual({ kind: 'allowed', isAdmin: true });
    expect(await access(caller(), { allowAll: true })).toEqual({ kind: 'allowed', isAdmin: false });
  });

  it('no other bot unless the owner says so, and nobody without an id', async () => {
    expect(await access(caller({ isBot: true }), { allowAll: true })).toMatchObject({ kind: 'stranger' });
    expect(await access(caller({ isBot: true }), { allowBots: 'mentions' })).toMatchObject({
      kind: 'allowed',
    });
    expect(await access(caller({ id: '' }), { allowAll: true })).toMatchObject({ kind: 'stranger' });
  });
});
