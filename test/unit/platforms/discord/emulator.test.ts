import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type DiscordEmulator, startDiscordEmulator } from '../../../emulators/discord/discord-emulator.ts';
import { createValidator, type Schema } from '../../../emulators/discord/json-schema.ts';

let emulator: DiscordEmulator;

beforeEach(async () => {
  emulator = await startDiscordEmulator();
});
afterEach(() => emulator.close());

function call(method: string, path: string, body?: unknown) {
  return fetch(`${emulator.apiRoot}/v10${path}`, {
    method,
    headers: { authorization: `Bot ${emulator.token}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

/** The emulator must be as strict as Discord, or the tests that rest on it prove nothing. */
describe('the Discord emulator refuses', () => {
  it.each([
    ['a text that is too long', { content: 'x'.repeat(2001) }],
    ['nothing at all', { content: ' ' }],
    [
      'embeds of more than six thousand characters',
      { embeds: [1, 2].map(() => ({ description: 'x'.repeat(3500) })) },
    ],
    [
      'a custom id twice',
      {
        components: [
          { type: 1, components: [0, 1].map(() => ({ type: 2, style: 1, label: 'a', custom_id: 'a' })) },
        ],
      },
    ],
    [
      'six buttons in a row',
      {
        components: [
          {
            type: 1,
            components: [...'123456'].map((id) => ({ type: 2, style: 1, label: id, custom_id: id })),
          },
        ],
      },
    ],
    [
      'an answer to a message that is gone',
      { content: 'x', message_reference: { message_id: '1111111111111111111' } },
    ],
  ])('%s', async (_name, body) => {
    const channel = emulator.addUser('Ann').dm();
    expect((await call('POST', `/channels/${channel.id}/messages`, body)).status).toBe(400);
    expect(emulator.violations()).not.toEqual([]);
  });

  it('a stranger', async () => {
    const response = await fetch(`${emulator.apiRoot}/v10/users/@me`, {
      headers: { authorization: 'Bot x' },
    });
    expect(response.status).toBe(401);
  });

  it('a second thread on one message', async () => {
    const channel = emulator.addChannel('general');
    const said = emulator.addUser('Ann').says('hello', { channel });
    const path = `/channels/${channel.id}/messages/${said.id}/threads`;
    expect((await call('POST', path, { name: 'a' })).status).toBe(200);
    expect(await (await call('POST', path, { name: 'a' })).json()).toMatchObject({ code: 160004 });
  });

  it('a second answer to an interaction', async () => {
    const ann = emulator.addUser('Ann');
    const button = { type: 2, style: 1, label: 'Go', custom_id: 'go' };
    await call('POST', `/channels/${ann.dm().id}/messages`, {
      content: 'x',
      components: [{ type: 1, components: [button] }],
    });
    const [message] = ann.botShows();
    if (message === undefined) throw new Error('nothing is shown');
    const { id, token } = ann.presses('Go', message);
    const path = `/interactions/${id}/${token}/callback`;
    expect((await call('POST', path, { type: 6 })).status).toBe(204);
    expect(await (await call('POST', path, { type: 6 })).json()).toMatchObject({ code: 40060 });
  });

  it('an answer after three seconds', async () => {
    const ann = emulator.addUser('Ann');
    await call('PUT', `/applications/${emulator.world.applicationId}/commands`, [
      { name: 'stop', description: 'Stops' },
    ]);
    const interaction = ann.types('stop');
    interaction.createdAt -= 3001;
    const late = await call('POST', `/interactions/${interaction.id}/${interaction.token}/callback`, {
      type: 5,
    });
    expect(await late.json()).toMatchObject({ code: 10062 });
  });
});

describe('the check against a description', () => {
  const schemas: Record<string, Schema> = {
    Name: { type: 'string', minLength: 1, maxLength: 3 },
    Thing: {
      type: 'object',
      properties: {
        name: { $ref: '#/components/schemas/Name' },
        count: { type: ['integer', 'null'], maximum: 9 },
      },
      required: ['name'],
    },
  };
  const check = createValidator(schemas);
  const thing = { $ref: '#/components/schemas/Thing' };

  it.each([
    ['what fits', { name: 'abc', count: null }, []],
    ['a missing field', { count: 1 }, ['body.name: missing']],
    ['an unknown field', { name: 'a', size: 1 }, ['body.size: unknown field']],
    ['a text too long', { name: 'abcd' }, ['body.name: longer than 3']],
    ['a number too big', { name: 'a', count: 10 }, ['body.count: above 9']],
    ['another type', { name: 5 }, ['body.name: integer is not string']],
  ])('judges %s', (_name, value, complaints) => {
    expect(check(thing, value, 'body')).toEqual(complaints);
  });

  it('takes the choice that fits', () => {
    const either: Schema = { oneOf: [{ type: 'null' }, thing] };
    expect(check(either, null, 'body')).toEqual([]);
    expect(check(either, { name: '' }, 'body')).toEqual(['body.name: shorter than 1']);
  });
});
