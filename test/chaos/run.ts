import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { runChaos } from './chaos.ts';

/**
 * `npm run chaos -- --seed 1 --kills 200 --minutes 20`: prints a report in JSON and ends with 1 on any violation.
 * The same seed plans the same messages, decisions, kills and faults; the moments are the machine's.
 * `--log FILE` keeps the gateway's log.
 */
const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    kills: { type: 'string', default: '200' },
    minutes: { type: 'string', default: '20' },
    chats: { type: 'string', default: '60' },
    messages: { type: 'string', default: '2040' },
    log: { type: 'string' },
  },
});
const chats = Number(values.chats);
const { log, ...report } = await runChaos({
  seed: Number(values.seed),
  kills: Number(values.kills),
  minutes: Number(values.minutes),
  chats,
  messagesPerChat: Math.max(1, Math.round(Number(values.messages) / chats)),
});
if (values.log !== undefined) writeFileSync(values.log, log, { mode: 0o600 });
process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
process.exit(report.violations.length === 0 ? 0 : 1);
