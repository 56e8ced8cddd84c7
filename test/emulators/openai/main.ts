import { createOpenAIEmulator } from './emulator.ts';
import { instantReply } from './instant.ts';

/**
 * The emulator as a process of its own, for measurements: `node main.ts [port]`. Prints `{"url": …}` once it
 * listens; `GET <url>/held` hands out, and forgets, how long each request was held.
 */
const emulator = await createOpenAIEmulator({
  port: Number(process.argv[2] ?? 0),
  answer: instantReply,
  record: false,
});
process.stdout.write(`${JSON.stringify({ url: emulator.url })}\n`);
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void emulator.close());
