import { startControl } from './control.ts';
import { startTelegramEmulator } from './telegram-emulator.ts';

/**
 * The emulator as a process of its own: `node main.ts [port]`. Prints one line of JSON with what the gateway needs
 * (`apiRoot`, `token`) and with `control`, where `POST {"do": …}` plays the people (see control.ts). With
 * `RECORD=0` calls are not kept, for runs of many thousands.
 */
const emulator = await startTelegramEmulator({
  port: Number(process.argv[2] ?? 0),
  record: process.env['RECORD'] !== '0',
});
const control = await startControl(emulator);
const { apiRoot, token } = emulator;
process.stdout.write(`${JSON.stringify({ apiRoot, token, control: `${control.url}/` })}\n`);

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.once(signal, () => {
    void control.close();
    void emulator.close();
  });
}
