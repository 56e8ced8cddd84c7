import { GatewayError } from '../../src/errors.ts';
import { toGatewayError } from './errors.ts';

export interface Whisper {
  /** Slack's markup, escaped where it must be. */
  mrkdwn: string;
  threadTs?: string | undefined;
}

export interface Responder {
  /** Shows something to the one person who pressed or typed, by the URL that Slack gave with it. */
  whisper(responseUrl: string, message: Whisper, signal?: AbortSignal): Promise<void>;
}

const timeoutMs = 5000;

/** `apiRoot` tells where response URLs may lead besides Slack's own host: an emulator serves both. */
export function createResponder(apiRoot: string): Responder {
  const origins = new Set(['https://hooks.slack.com', new URL(apiRoot).origin]);
  return {
    async whisper(responseUrl, { mrkdwn, threadTs }, signal) {
      if (!origins.has(new URL(responseUrl).origin)) {
        throw new GatewayError('platform_refused', 'A Slack response URL leads away from Slack');
      }
      const deadline = AbortSignal.timeout(timeoutMs);
      const answer = await fetch(responseUrl, {
        method: 'POST',
        redirect: 'error',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          response_type: 'ephemeral',
          replace_original: false,
          text: mrkdwn,
          ...(threadTs === undefined ? {} : { thread_ts: threadTs }),
        }),
        signal: signal === undefined ? deadline : AbortSignal.any([signal, deadline]),
      }).catch((error: unknown) => {
        throw toGatewayError(error, 'response_url', 'send');
      });
      if (!answer.ok) {
        throw new GatewayError(
          'platform_refused',
          `Slack refused a private reply with HTTP ${answer.status}`,
        );
      }
    },
  };
}
