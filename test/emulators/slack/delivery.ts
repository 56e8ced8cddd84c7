import { createHmac } from 'node:crypto';
import { type WebSocket, WebSocketServer } from 'ws';
import { z } from 'zod';
import { preciseNow } from '../drive.ts';

export type EnvelopeKind = 'events_api' | 'interactive' | 'slash_commands';

/** What became of one envelope, and how long the app took over it. */
export interface Receipt {
  envelopeId: string;
  kind: EnvelopeKind;
  attempts: number;
  /** Milliseconds from sending to the acknowledgement; absent until it came. */
  ackMs?: number;
  response?: unknown;
  /** Resolves once it is acknowledged. */
  acked: Promise<void>;
}

export interface HttpEndpoint {
  url: string;
  signingSecret: string;
}

interface Envelope {
  receipt: Receipt;
  resolve(): void;
  payload: Record<string, unknown>;
  sentAt: number;
  timer: NodeJS.Timeout | undefined;
}

/** Slack sends an envelope again when no acknowledgement came within three seconds. */
const ackDeadlineMs = 3000;
const longestTry = 4;

const ackShape = z.strictObject({ envelope_id: z.string(), payload: z.unknown().optional() });

export interface Delivery {
  sockets: WebSocketServer;
  receipts: Receipt[];
  violations: string[];
  /** Sends to the HTTP endpoint when there is one, else to one of the open sockets, else keeps nothing. */
  send(kind: EnvelopeKind, payload: Record<string, unknown>): Receipt;
  /** Sends an earlier envelope once more, as Slack does after a lost acknowledgement. */
  redeliver(receipt: Receipt): void;
  useHttp(endpoint: HttpEndpoint | undefined): void;
  /** Holds envelopes back until `release`, which sends them in the order given by `sort`. */
  hold(): void;
  release(reverse: boolean): void;
  connections(): number;
  /** Asks the newest socket to reconnect, as Slack does about hourly. */
  refresh(): void;
  dropAll(): void;
  /** Stops reading and answering on the open sockets, as a network that died without a word. */
  freeze(): void;
  close(): void;
}

/**
 * The Events API's two ways to the app: Socket Mode and signed HTTP requests, each with redelivery. `onSent` hears of
 * each envelope as it leaves, with the time in epoch milliseconds.
 */
export function createDelivery(onSent: (payload: Record<string, unknown>, at: number) => void): Delivery {
  const sockets = new WebSocketServer({ noServer: true });
  const open: WebSocket[] = [];
  const waiting = new Map<string, Envelope>();
  const receipts: Receipt[] = [];
  const violations: string[] = [];
  const payloads = new Map<string, Record<string, unknown>>();
  let http: HttpEndpoint | undefined;
  let held: Envelope[] | undefined;
  let counter = 0;

  sockets.on('connection', (socket) => {
    open.push(socket);
    socket.on('close', () => {
      const at = open.indexOf(socket);
      if (at !== -1) open.splice(at, 1);
    });
    socket.on('message', (data) => acknowledge(String(data)));
    socket.send(
      JSON.stringify({
        type: 'hello',
        num_connections: open.length,
        connection_info: { app_id: 'A0EMULATOR' },
      }),
    );
  });

  function acknowledge(text: string): void {
    const parsed = ackShape.safeParse(JSON.parse(text));
    if (!parsed.success) return void violations.push(`socket: ${parsed.error.message}`);
    const envelope = waiting.get(parsed.data.envelope_id);
    if (envelope === undefined) return;
    settle(envelope, parsed.data.payload);
  }

  function settle(envelope: Envelope, response: unknown): void {
    clearTimeout(envelope.timer);
    waiting.delete(envelope.receipt.envelopeId);
    envelope.receipt.ackMs = performance.now() - envelope.sentAt;
    envelope.receipt.response = response;
    envelope.resolve();
  }

  function transmit(envelope: Envelope): void {
    if (held !== undefined) return void held.push(envelope);
    const { receipt } = envelope;
    receipt.attempts += 1;
    envelope.sentAt = performance.now();
    onSent(envelope.payload, preciseNow());
    waiting.set(receipt.envelopeId, envelope);
    if (receipt.attempts < longestTry) {
      envelope.timer = setTimeout(() => transmit(envelope), ackDeadlineMs);
      envelope.timer.unref();
    }
    if (http !== undefined) void post(http, envelope);
    else open[receipts.length % Math.max(1, open.length)]?.send(frame(envelope));
  }

  async function post(endpoint: HttpEndpoint, envelope: Envelope): Promise<void> {
    const { kind, attempts } = envelope.receipt;
    const body = httpBody(kind, envelope.payload);
    const stamp = String(Math.floor(Date.now() / 1000));
    const headers: Record<string, string> = {
      'content-type': kind === 'events_api' ? 'application/json' : 'application/x-www-form-urlencoded',
      'x-slack-request-timestamp': stamp,
      'x-slack-signature': sign(endpoint.signingSecret, stamp, body),
      ...(attempts > 1
        ? { 'x-slack-retry-num': String(attempts - 1), 'x-slack-retry-reason': 'http_timeout' }
        : {}),
    };
    const answer = await fetch(endpoint.url, { method: 'POST', headers, body }).catch(() => undefined);
    if (answer?.ok !== true) return;
    const text = await answer.text();
    settle(envelope, text === '' ? undefined : JSON.parse(text));
  }

  return {
    sockets,
    receipts,
    violations,
    send(kind, payload) {
      counter += 1;
      const { promise: acked, resolve } = Promise.withResolvers<void>();
      const receipt: Receipt = { envelopeId: `envelope-${counter}`, kind, attempts: 0, acked };
      receipts.push(receipt);
      payloads.set(receipt.envelopeId, payload);
      transmit({ receipt, resolve, payload, sentAt: 0, timer: undefined });
      return receipt;
    },
    redeliver(receipt) {
      const payload = payloads.get(receipt.envelopeId);
      if (payload === undefined) return;
      transmit({ receipt, resolve: () => undefined, payload, sentAt: 0, timer: undefined });
    },
    useHttp(endpoint) {
      http = endpoint;
    },
    hold() {
      held = [];
    },
    release(reverse) {
      const batch = held ?? [];
      held = undefined;
      for (const envelope of reverse ? batch.toReversed() : batch) transmit(envelope);
    },
    connections: () => open.length,
    refresh: () => open.at(-1)?.send(JSON.stringify({ type: 'disconnect', reason: 'refresh_requested' })),
    dropAll() {
      for (const socket of [...open]) socket.terminate();
    },
    freeze() {
      for (const socket of open.splice(0)) socket.pause();
    },
    close() {
      for (const { timer } of waiting.values()) clearTimeout(timer);
      for (const socket of sockets.clients) socket.terminate();
      sockets.close();
    },
  };
}

function frame({ receipt, payload }: Envelope): string {
  return JSON.stringify({
    type: receipt.kind,
    envelope_id: receipt.envelopeId,
    payload,
    accepts_response_payload: receipt.kind !== 'events_api',
    ...(receipt.kind === 'events_api' ? { retry_attempt: receipt.attempts - 1, retry_reason: '' } : {}),
  });
}

function httpBody(kind: EnvelopeKind, payload: Record<string, unknown>): string {
  if (kind === 'events_api') return JSON.stringify(payload);
  if (kind === 'interactive') return new URLSearchParams({ payload: JSON.stringify(payload) }).toString();
  const fields = Object.entries(payload).map(([key, value]) => [key, String(value)]);
  return new URLSearchParams(Object.fromEntries(fields)).toString();
}

/** Slack's request signature. docs.slack.dev/authentication/verifying-requests-from-slack */
export function sign(secret: string, stamp: string, body: string): string {
  return `v0=${createHmac('sha256', secret).update(`v0:${stamp}:${body}`).digest('hex')}`;
}
