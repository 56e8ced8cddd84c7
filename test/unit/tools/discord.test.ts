import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { runToolCall } from '../../../tools/dispatch.ts';
import type { ToolContext } from '../../../tools/tool.ts';
import '../../../tools/discord.ts';
import '../../../tools/discord-admin.ts';
import { registry } from '../../../tools/registry.ts';
import { type DiscordEmulator, startDiscordEmulator } from '../../emulators/discord/discord-emulator.ts';
import { createWorkbench, fields } from './support/context.ts';

let emulator: DiscordEmulator;

beforeEach(async () => {
  emulator = await startDiscordEmulator();
  vi.stubEnv('DISCORD_BOT_TOKEN', emulator.token);
  vi.stubEnv('DISCORD_API_ROOT', emulator.apiRoot);
});

afterEach(async () => {
  vi.unstubAllEnvs();
  await emulator.close();
  expect(emulator.violations()).toEqual([]);
});

async function call(tool: string, args: Record<string, unknown>, changes: Partial<ToolContext> = {}) {
  const bench = await createWorkbench();
  return fields((await runToolCall(tool, args, bench.context(changes))).result);
}

describe('the discord tool', () => {
  test('is offered only where there is a bot token', async () => {
    expect(await registry.getDefinitions(['discord'])).toHaveLength(1);
    vi.stubEnv('DISCORD_BOT_TOKEN', '');
    expect(await registry.getDefinitions(['discord', 'discord_admin'])).toEqual([]);
  });

  test('finds the way from servers to channels to messages', async () => {
    const channel = emulator.addChannel('general');
    const ann = emulator.addUser('Ann');
    ann.says('the first', { channel });
    ann.says('the second', { channel });
    const { guild } = emulator;
    expect(await call('discord', { action: 'list_servers' })).toEqual({
      result: [{ id: guild.id, name: 'Acme' }],
    });
    expect(await call('discord', { action: 'list_channels', server_id: guild.id })).toMatchObject({
      result: [{ id: channel.id, kind: 'text', name: 'general' }],
    });
    expect(
      await call('discord', { action: 'fetch_messages', channel_id: channel.id, limit: 1 }),
    ).toMatchObject({
      result: [{ author: { id: ann.id, name: 'Ann' }, text: 'the second' }],
    });
  });

  test('takes part without pinging anyone', async () => {
    const channel = emulator.addChannel('general');
    const said = emulator.addUser('Ann').says('hello', { channel });
    await call('discord', {
      action: 'reply',
      channel_id: channel.id,
      message_id: said.id,
      text: '@everyone hi',
    });
    await call('discord', {
      action: 'add_reaction',
      channel_id: channel.id,
      message_id: said.id,
      emoji: '👍',
    });
    await call('discord', {
      action: 'create_thread',
      channel_id: channel.id,
      message_id: said.id,
      name: 'talk',
    });
    expect(emulator.world.messages.at(-1)).toMatchObject({ pinged: [], reference: { messageId: said.id } });
    expect([...said.reactions.keys()]).toEqual(['👍']);
    expect(emulator.world.channels.get(said.id)?.name).toBe('talk');
  });

  test('reads members, roles, threads and pins', async () => {
    const { guild } = emulator;
    const channel = emulator.addChannel('general');
    const ann = emulator.addUser('Ann');
    const thread = ann.startsThread(channel, 'lunch');
    const said = ann.says('remember this', { channel });
    said.pinned = true;
    const results = await Promise.all([
      call('discord', { action: 'search_members', server_id: guild.id, query: 'an' }),
      call('discord', { action: 'member_info', server_id: guild.id, user_id: ann.id }),
      call('discord', { action: 'list_roles', server_id: guild.id }),
      call('discord', { action: 'list_threads', server_id: guild.id }),
      call('discord', { action: 'list_pins', channel_id: channel.id }),
      call('discord', { action: 'channel_info', channel_id: channel.id }),
      call('discord', { action: 'server_info', server_id: guild.id }),
    ]);
    expect(results).toMatchObject([
      { result: [{ id: ann.id, name: 'Ann' }] },
      { result: { id: ann.id, roles: [] } },
      { result: [{ name: '@everyone' }, { name: 'hermes' }] },
      { result: [{ id: thread.id, kind: 'thread', parent: channel.id }] },
      { result: [{ id: said.id, text: 'remember this' }] },
      { result: { name: 'general' } },
      { result: { name: 'Acme' } },
    ]);
  });

  test('says what an action lacks, and what Discord refused', async () => {
    expect(await call('discord', { action: 'fetch_messages' })).toEqual({
      error: 'fetch_messages needs channel_id.',
    });
    expect(await call('discord', { action: 'channel_info', channel_id: '111111111111111111' })).toEqual({
      error: 'Discord refused: Unknown Channel. There is no such channel.',
    });
  });

  test('waits out a short rate limit and gives up on a long one', async () => {
    const route = 'GET /users/@me/guilds';
    emulator.fail(route, { status: 429, retryAfter: 0.05 });
    expect(await call('discord', { action: 'list_servers' })).toHaveProperty('result');
    emulator.fail(route, { status: 429, retryAfter: 60 });
    expect(await call('discord', { action: 'list_servers' })).toEqual({
      error: 'Discord asks to wait; try again later.',
    });
  });

  test('a refused token is named, never shown', async () => {
    vi.stubEnv('DISCORD_BOT_TOKEN', 'wrong-token-of-no-use');
    const answer = JSON.stringify(await call('discord', { action: 'list_servers' }));
    expect(answer).toContain('DISCORD_BOT_TOKEN');
    expect(answer).not.toContain('wrong-token');
  });
});

describe('the discord_admin tool', () => {
  test('moderates, once a person has agreed', async () => {
    const { guild } = emulator;
    const ann = emulator.addUser('Ann');
    const asked: unknown[] = [];
    const approve: ToolContext['approve'] = async (subject) => {
      asked.push(subject);
      return { approved: true };
    };
    await call(
      'discord_admin',
      { action: 'ban_member', server_id: guild.id, user_id: ann.id, reason: 'спам' },
      { approve },
    );
    expect(guild.bans.has(ann.id)).toBe(true);
    expect(asked).toEqual([
      {
        kind: 'rule',
        key: 'discord_admin:ban_member',
        tool: 'discord_admin',
        reason: `Ban member ${ann.id} from Discord server ${guild.id}`,
      },
    ]);
    await call('discord_admin', { action: 'unban_member', server_id: guild.id, user_id: ann.id });
    expect(guild.bans.has(ann.id)).toBe(false);
  });

  test('does nothing that a person has refused', async () => {
    const { guild } = emulator;
    const ann = emulator.addUser('Ann');
    const approve: ToolContext['approve'] = async () => ({
      approved: false,
      status: 'blocked',
      message: 'Denied.',
    });
    await call('discord_admin', { action: 'kick_member', server_id: guild.id, user_id: ann.id }, { approve });
    expect(guild.members.has(ann.id)).toBe(true);
  });

  test('changes roles, timeouts, pins, topics and channels', async () => {
    const { guild } = emulator;
    const channel = emulator.addChannel('general');
    const ann = emulator.addUser('Ann');
    const said = ann.says('hello', { channel });
    const who = { server_id: guild.id, user_id: ann.id };
    const which = { channel_id: channel.id, message_id: said.id };
    await call('discord_admin', { action: 'add_role', ...who, role_id: '222222222222222222' });
    await call('discord_admin', { action: 'timeout_member', ...who, minutes: 10 });
    await call('discord_admin', { action: 'pin_message', ...which });
    await call('discord_admin', { action: 'set_topic', channel_id: channel.id, topic: 'All things' });
    await call('discord_admin', { action: 'create_channel', server_id: guild.id, name: 'new' });
    expect(guild.members.get(ann.id)).toMatchObject({
      roles: ['222222222222222222'],
      timeoutUntil: expect.stringContaining('T'),
    });
    expect(said.pinned).toBe(true);
    expect(channel.topic).toBe('All things');
    await call('discord_admin', { action: 'remove_role', ...who, role_id: '222222222222222222' });
    await call('discord_admin', { action: 'timeout_member', ...who, minutes: 0 });
    await call('discord_admin', { action: 'unpin_message', ...which });
    await call('discord_admin', { action: 'delete_message', ...which });
    expect(guild.members.get(ann.id)).toMatchObject({ roles: [], timeoutUntil: null });
    expect(said).toMatchObject({ pinned: false, deleted: true });
  });
});
