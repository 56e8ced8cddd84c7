import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ChatAddress } from '../../../../platforms/platform.ts';
import { sessionKeyOf } from '../../../../src/gateway/session-key.ts';

const sender = { id: '7', name: 'Ann', isBot: false };
const key = (chat: ChatAddress, rules = { groupSessionsPerUser: true, threadSessionsPerUser: false }) =>
  sessionKeyOf({ chat, sender }, rules);

describe('the key of a session', () => {
  it.each<[string, ChatAddress, string]>([
    ['a DM', { platform: 'telegram', kind: 'dm', chatId: '1' }, 'agent:main:telegram:dm:1'],
    [
      'a DM with a topic',
      { platform: 'telegram', kind: 'dm', chatId: '1', threadId: '5' },
      'agent:main:telegram:dm:1:5',
    ],
    [
      'a group, one session a user',
      { platform: 'telegram', kind: 'group', chatId: '-1' },
      'agent:main:telegram:group:-1:7',
    ],
    [
      'a thread, shared',
      { platform: 'discord', kind: 'thread', chatId: '1', threadId: '9' },
      'agent:main:discord:thread:1:9',
    ],
    [
      'a Slack workspace',
      { platform: 'slack', kind: 'channel', chatId: 'C1', workspaceId: 'T1' },
      'agent:main:slack:channel:T1:C1:7',
    ],
  ])('of %s', (_name, chat, expected) => {
    expect(key(chat)).toBe(expected);
  });

  it('follows the rules for groups and threads', () => {
    const rules = { groupSessionsPerUser: false, threadSessionsPerUser: true };
    expect(key({ platform: 'telegram', kind: 'group', chatId: '1' }, rules)).toBe(
      'agent:main:telegram:group:1',
    );
    expect(key({ platform: 'telegram', kind: 'group', chatId: '1', threadId: '2' }, rules)).toBe(
      'agent:main:telegram:group:1:2:7',
    );
  });

  it('is never the same for two places, whatever characters their ids have', () => {
    const address = fc.record({
      platform: fc.constant('slack'),
      kind: fc.constantFrom('dm' as const, 'channel' as const),
      chatId: fc.string({ minLength: 1, maxLength: 5 }),
      threadId: fc.string({ minLength: 1, maxLength: 5 }),
    });
    fc.assert(
      fc.property(address, address, (a, b) => {
        const same = a.kind === b.kind && a.chatId === b.chatId && a.threadId === b.threadId;
        expect(key(a) === key(b)).toBe(same);
      }),
    );
  });
});
