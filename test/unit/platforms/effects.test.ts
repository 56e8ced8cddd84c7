import { describe, expect, test } from 'vitest';
import { effectsOfCall as onDiscord } from '../../emulators/discord/effects.ts';
import { createWorld } from '../../emulators/discord/world.ts';
import { effectsOfMessage as onSlack } from '../../emulators/slack/effects.ts';
import { effectsOfRich, effectsOfText } from '../../emulators/telegram/effects.ts';

/** The check on every request of the adapters is worth nothing if it sees nothing. */
describe('what a careless text does is seen', () => {
  test('on Telegram', () => {
    expect(effectsOfText('hi @durov', false).pings).toEqual(['@durov']);
    expect(effectsOfText('<b>hi</b> @durov <code>@everyone</code>', true).pings).toEqual(['@durov']);
    expect(effectsOfText('<a href="tg://user?id=1">x</a>', true)).toEqual({
      pings: ['tg://user?id=1'],
      links: ['tg://user?id=1'],
    });
    expect(effectsOfRich({ markdown: '@durov [x](javascript:1)' })).toEqual({
      pings: ['@durov'],
      links: ['javascript:1'],
    });
    expect(effectsOfRich({ markdown: '@durov', skip_entity_detection: true }).pings).toEqual([]);
  });

  test('on Discord', () => {
    const world = createWorld();
    const body = { content: '@everyone <@42> [x](javascript:1)' };
    const careless = { pings: ['everyone', '42'], links: ['javascript:1'] };
    expect(onDiscord({ body }, world)).toEqual(careless);
    expect(onDiscord({ body: { name: 'a post', message: body } }, world)).toEqual(careless);
    expect(onDiscord({ body: { type: 4, data: body } }, world)).toEqual(careless);
    expect(onDiscord({ body: { ...body, allowed_mentions: { parse: [] } } }, world).pings).toEqual([]);
  });

  test('on Slack', () => {
    expect(onSlack('<!channel> <@U1> <https://a.b|x>', [])).toEqual({
      pings: ['!channel', '@U1'],
      links: ['https://a.b'],
    });
    const blocks = [{ type: 'context', elements: [{ type: 'mrkdwn', text: '<!here>' }] }];
    expect(onSlack('', blocks).pings).toEqual(['!here']);
    expect(onSlack('', [{ type: 'markdown', text: '[x](javascript:1)' }]).links).toEqual(['javascript:1']);
    expect(onSlack('&lt;!channel&gt; @everyone', [])).toEqual({ pings: [], links: [] });
  });
});
