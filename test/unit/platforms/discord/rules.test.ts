import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ChannelFacts } from '../../../../platforms/discord/channels.ts';
import { readCustomId, writeCustomId } from '../../../../platforms/discord/custom-id.ts';
import { nonceOf } from '../../../../platforms/discord/delivered.ts';
import { type GateFacts, judge } from '../../../../platforms/discord/gate.ts';
import { applicationIdOf, inviteLink } from '../../../../platforms/discord/invite.ts';
import { type DiscordOptions, withDefaults } from '../../../../platforms/discord/options.ts';
import { threadTitle } from '../../../../platforms/discord/plain-text.ts';
import { snowflakeAt, timeOfSnowflake } from '../../../../platforms/discord/snowflake.ts';

const channel: ChannelFacts = { id: '1', kind: 'channel', type: 0 };
const thread: ChannelFacts = { id: '2', kind: 'thread', type: 11, parentId: '1' };
const dm: ChannelFacts = { id: '3', kind: 'dm', type: 1 };
const voice: ChannelFacts = { id: '4', kind: 'channel', type: 2 };

const verdict = (facts: Partial<GateFacts>, options: Partial<DiscordOptions> = {}): string => {
  const plain = {
    channel,
    author: 'person',
    mentioned: false,
    repliesToBot: false,
    takesPart: false,
  } as const;
  const judged = judge({ ...plain, ...facts }, withDefaults({ token: 't', ...options }));
  if (!judged.pass) return 'silent';
  return judged.openThread ? 'thread' : 'here';
};

describe('whether a message is for the bot', () => {
  it.each([
    ['a DM', { channel: dm }, {}, 'here'],
    ['chatter in a channel', {}, {}, 'silent'],
    ['a mention in a channel', { mentioned: true }, {}, 'thread'],
    ['a mention without auto-threads', { mentioned: true }, { autoThread: false }, 'here'],
    ['a mention where threads are off', { mentioned: true }, { noThreadChannels: ['1'] }, 'here'],
    ['a mention in a voice channel’s chat', { channel: voice, mentioned: true }, {}, 'here'],
    ['a reply to the bot', { repliesToBot: true }, {}, 'here'],
    ['a reply to the bot that mentions it', { repliesToBot: true, mentioned: true }, {}, 'thread'],
    ['chatter in a thread', { channel: thread }, {}, 'silent'],
    ['chatter in the bot’s thread', { channel: thread, takesPart: true }, {}, 'here'],
    ['chatter where no mention is required', {}, { requireMention: false }, 'thread'],
    ['chatter in a free channel', {}, { freeResponseChannels: ['1'] }, 'here'],
    ['chatter in a thread of a free channel', { channel: thread }, { freeResponseChannels: ['1'] }, 'here'],
    ['a mention in an ignored channel', { mentioned: true }, { ignoredChannels: ['1'] }, 'silent'],
    [
      'a mention in a thread of an ignored channel',
      { channel: thread, mentioned: true },
      { ignoredChannels: ['1'] },
      'silent',
    ],
    ['a mention in a channel not allowed', { mentioned: true }, { allowedChannels: ['9'] }, 'silent'],
    ['a DM when only channels are allowed', { channel: dm }, { allowedChannels: ['9'] }, 'here'],
    ['a mention by another bot', { author: 'bot', mentioned: true }, {}, 'silent'],
    [
      'a mention by another bot that may',
      { author: 'bot', mentioned: true },
      { allowBots: 'mentions' },
      'thread',
    ],
    ['chatter of another bot', { author: 'bot', channel: dm }, { allowBots: 'mentions' }, 'silent'],
    ['the bot’s own message', { author: 'self', channel: dm }, { allowBots: 'all' }, 'silent'],
  ] as const)('%s', (_name, facts, options, expected) => {
    expect(verdict(facts, options)).toBe(expected);
  });
});

describe('ids', () => {
  it('a button’s id survives the way to Discord and back, within a hundred characters', () => {
    const id = fc.stringMatching(/^[!-{}~]{1,64}$/);
    fc.assert(
      fc.property(id, fc.string({ unit: 'grapheme', minLength: 1, maxLength: 80 }), (button, label) => {
        const [plain, form] = [
          writeCustomId({ kind: 'press', id: button }),
          writeCustomId({ kind: 'form', id: button, label }),
        ];
        expect(Math.max(plain.length, form.length)).toBeLessThanOrEqual(100);
        expect(readCustomId(plain)).toEqual({ kind: 'press', id: button });
        expect(readCustomId(form)).toMatchObject({ kind: 'form', id: button });
      }),
    );
  });

  it('a component of another app is none of ours', () => {
    expect(readCustomId('vote:yes')).toBeNull();
    expect(readCustomId('list|0')).toBeNull();
  });

  it('a nonce is stable and fits', () => {
    expect(nonceOf('a key')).toBe(nonceOf('a key'));
    expect(nonceOf('a key')).toHaveLength(25);
  });

  it('a snowflake tells its time', () => {
    expect(timeOfSnowflake(snowflakeAt(1_764_554_000_123))).toBe(1_764_554_000_123);
    expect(timeOfSnowflake('175928847299117063')).toBe(1_462_015_105_796);
  });
});

describe('a thread’s name', () => {
  it.each([
    ['is the first line', 'Fix the build\nit is red', 'Fix the build'],
    ['has no markup', '## **Fix** `make`', 'Fix make'],
    ['falls back to the person', '', 'Chat with Ann'],
  ])('%s', (_name, text, expected) => {
    expect(threadTitle(text, 'Ann')).toBe(expected);
  });

  it('is cut at a word and never within a character', () => {
    expect(threadTitle('word '.repeat(40), 'Ann')).toMatch(/^(word ){14}word…$/);
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 60, maxLength: 200 }), (text) => {
        const title = threadTitle(text, 'Ann');
        expect(title.isWellFormed()).toBe(true);
        expect(title.length).toBeLessThanOrEqual(100);
      }),
    );
  });
});

describe('the invite link', () => {
  it('asks for no more than the bot uses', () => {
    const link = new URL(inviteLink({ applicationId: '123456789012345678' }));
    expect(link.origin + link.pathname).toBe('https://discord.com/oauth2/authorize');
    expect(Object.fromEntries(link.searchParams)).toEqual({
      client_id: '123456789012345678',
      scope: 'bot applications.commands',
      permissions: '309237763136',
    });
  });

  it('asks for moderation only when told to', () => {
    const permissions = BigInt(
      new URL(inviteLink({ applicationId: '1', moderation: true })).searchParams.get('permissions') ?? 0,
    );
    expect(permissions & (1n << 2n)).not.toBe(0n);
    expect(permissions & (1n << 3n)).toBe(0n);
  });

  it('finds the application in the token', () => {
    expect(applicationIdOf(`${Buffer.from('123456789012345678').toString('base64url')}.abc.def`)).toBe(
      '123456789012345678',
    );
    expect(applicationIdOf('nonsense')).toBeNull();
  });
});
