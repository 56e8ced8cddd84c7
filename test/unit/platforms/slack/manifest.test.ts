import { describe, expect, it } from 'vitest';
import { slackManifest, slackManifestLink } from '../../../../platforms/slack/manifest.ts';
import { allScopes } from '../../../emulators/slack/slack-emulator.ts';

describe('the app manifest', () => {
  it('asks for the scopes and events that the adapter uses, over Socket Mode', () => {
    const manifest = slackManifest({ name: 'Hermes' });
    expect(manifest).toMatchObject({
      oauth_config: { scopes: { bot: allScopes } },
      settings: { socket_mode_enabled: true, interactivity: { is_enabled: true } },
      features: { slash_commands: [{ command: '/hermes' }] },
    });
    expect(JSON.stringify(manifest)).not.toContain('request_url');
  });

  it('carries the endpoint everywhere when the gateway has a public URL', () => {
    const manifest = slackManifest({
      name: 'Hermes',
      publicUrl: 'https://bot.example.org',
      commands: [{ name: 'approve', description: 'Approve' }],
    });
    const endpoint = 'https://bot.example.org/slack/events';
    expect(manifest).toMatchObject({
      settings: {
        socket_mode_enabled: false,
        event_subscriptions: { request_url: endpoint },
        interactivity: { request_url: endpoint },
      },
      features: { slash_commands: [{ url: endpoint }, { command: '/approve', url: endpoint }] },
    });
  });

  it('keeps Slack’s limit for names', () => {
    expect(slackManifest({ name: 'x'.repeat(80) })).toMatchObject({
      display_information: { name: 'x'.repeat(35) },
    });
  });

  it('comes as a link that holds it whole', () => {
    const manifest = slackManifest({ name: 'Hermes & friends' });
    const link = new URL(slackManifestLink(manifest));
    expect(JSON.parse(link.searchParams.get('manifest_json') ?? '')).toEqual(
      JSON.parse(JSON.stringify(manifest)),
    );
  });
});
