import { createControl } from './control.ts';
import { startDiscordEmulator } from './discord-emulator.ts';

/**
 * The emulator as a process of its own: `node main.ts [port]`. Prints one line of JSON with what the gateway needs
 * (`apiRoot`, `token`) and with `control`, where `POST {"do": …}` plays the people (see control.ts).
 */
const discord = await startDiscordEmulator({ port: Number(process.argv[2] ?? 0) });
const control = createControl(discord);
await new Promise<void>((resolve) => control.listen(0, '127.0.0.1', resolve));
const address = control.address();
const port = typeof address === 'object' && address !== null ? address.port : 0;
const { apiRoot, token } = discord;
process.stdout.write(`${JSON.stringify({ apiRoot, token, control: `http://127.0.0.1:${port}/` })}\n`);

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.once(signal, () => {
    control.close();
    control.closeAllConnections();
    void discord.close();
  });
}
