import { createControl } from './control.ts';
import { startSlackEmulator } from './slack-emulator.ts';

/**
 * The emulator as a process of its own: `node main.ts [port]`. Prints one line of JSON with what the gateway needs
 * (`apiRoot`, tokens) and with `control`, where `POST {"do": …}` plays the people (see control.ts).
 */
const slack = await startSlackEmulator({ port: Number(process.argv[2] ?? 0) });
const control = createControl(slack);
await new Promise<void>((resolve) => control.listen(0, '127.0.0.1', resolve));
const address = control.address();
const port = typeof address === 'object' && address !== null ? address.port : 0;
const { apiRoot, appToken, signingSecret, team } = slack;
const line = {
  apiRoot,
  botToken: team.botToken,
  appToken,
  signingSecret,
  control: `http://127.0.0.1:${port}/`,
};
process.stdout.write(`${JSON.stringify(line)}\n`);

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.once(signal, () => {
    control.close();
    control.closeAllConnections();
    void slack.close();
  });
}
