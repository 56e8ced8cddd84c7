import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type {
  ChatAddress,
  InboundEvent,
  OutboundContent,
  Platform,
  PlatformMemory,
  PlatformState,
  Press,
  PressReply,
} from '../../../platforms/platform.ts';
import { createWeb } from '../../../platforms/web/web.ts';
import { systemClock } from '../../../src/clock.ts';
import { silentLog } from '../../../src/log.ts';
import { createGuard } from '../../../src/server/guard.ts';
import { createMetrics } from '../../../src/server/metrics.ts';
import { createServer } from '../../../src/server/server.ts';
import { createPlatformMemory } from '../../support/platform-memory.ts';

export const testToken = 'a-token-for-tests-only';

/** The real server and the real web adapter; the test plays the gateway behind them. */
export interface WebGateway {
  url: string;
  web: Platform;
  said: InboundEvent[];
  presses: Press[];
  states: PlatformState[];
  /** What the next presses answer; by default that the decision is stored. */
  pressReply: PressReply;
  /** The next messages are refused with it, as when the disk is full. */
  failNextReceive: Error[];
  /** Sends as the gateway would; resolves to the message's id. */
  send(content: OutboundContent, key?: string): Promise<string>;
  edit(messageId: string, content: OutboundContent): Promise<void>;
  /** The chat that spoke last. */
  chat(): ChatAddress;
  stop(): Promise<void>;
}

export interface WebGatewayOptions {
  /** Given to two gateways in a row, it plays a restart; so does `port`. */
  memory?: PlatformMemory;
  port?: number;
}

export async function startWebGateway(options: WebGatewayOptions = {}): Promise<WebGateway> {
  const folder = await mkdtemp(join(tmpdir(), 'hermes-web-'));
  const guard = createGuard({ token: testToken, host: '127.0.0.1', clock: systemClock });
  const memory = options.memory ?? createPlatformMemory();
  const web = await createWeb(
    { admit: guard.admit, folder, personName: 'Ann' },
    { log: silentLog, clock: systemClock, memory },
  );
  const server = createServer({
    host: '127.0.0.1',
    port: options.port ?? 0,
    guard,
    notReady: async () => [],
    metrics: createMetrics(),
    routes: web.routes,
    log: silentLog,
  });
  await server.start();
  let serial = 0;

  const gateway: WebGateway = {
    url: server.url,
    web,
    said: [],
    presses: [],
    states: [],
    pressReply: { text: 'Approved once', alert: false },
    failNextReceive: [],
    chat() {
      const chat = gateway.said.at(-1)?.chat;
      if (chat === undefined) throw new Error('Nobody has said anything yet.');
      return chat;
    },
    async send(content, key) {
      serial += 1;
      const signal = AbortSignal.timeout(5_000);
      const sent = web
        .render(content)
        .map((payload) => web.deliver(gateway.chat(), payload, { key: key ?? `key-${serial}`, signal }));
      const last = (await Promise.all(sent)).at(-1);
      if (last === undefined) throw new Error('The content was rendered to nothing.');
      return last.messageId;
    },
    async edit(messageId, content) {
      const [payload] = web.render(content);
      if (payload !== undefined)
        await web.edit(gateway.chat(), messageId, payload, AbortSignal.timeout(5_000));
    },
    async stop() {
      await web.disconnect();
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
  await web.connect(
    {
      async receive(event) {
        const failure = gateway.failNextReceive.shift();
        if (failure !== undefined) throw failure;
        if (!gateway.said.some(({ eventId }) => eventId === event.eventId)) gateway.said.push(event);
      },
      async press(press) {
        gateway.presses.push(press);
        return gateway.pressReply;
      },
      report: (state) => void gateway.states.push(state),
      alive: () => undefined,
    },
    [
      { name: 'help', description: 'What I can do' },
      { name: 'status', description: 'Model, session and queue' },
      { name: 'stop', description: 'Stop what is running' },
    ],
    AbortSignal.timeout(5_000),
  );
  return gateway;
}
