import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { type Figures, median } from '../figures.ts';
import { type Person, personSchema, type Stage, withGateway } from '../stage.ts';

const presses = 30;

/** From the tap on a card to the moment at which the command says it runs: it writes the time into a file. */
export function measurePress(): Promise<Figures> {
  return withGateway(async (stage) => {
    const ann = await stage.fakes.telegram({ do: 'addUser', name: 'Ann' }, personSchema);
    const took: number[] = [];
    for (let count = 0; count < presses; count += 1) took.push(await pressTaking(stage, ann, count));
    return { 'press.to_run': median(took) };
  });
}

async function pressTaking({ fakes, home }: Stage, { user, chat }: Person, count: number): Promise<number> {
  const file = `ran-${count}`;
  const text = `run date +%s%N > ${file} && rm -rf ./scratch-${count}`;
  await fakes.telegram({ do: 'says', user, text }, z.unknown());
  await fakes.telegram({ do: 'waitFor', chat, text: `scratch-${count}` }, z.unknown());
  const pressedAt = performance.timeOrigin + performance.now();
  await fakes.telegram({ do: 'presses', user, label: 'Once' }, z.unknown());
  await untilAnswered(fakes, chat, count + 1);
  const ranAt = Number(await readFile(join(home, file), 'utf8')) / 1_000_000;
  return ranAt - pressedAt;
}

const transcript = z.array(z.object({ bot: z.boolean(), text: z.string() }));

async function untilAnswered({ telegram }: Stage['fakes'], chat: number, times: number): Promise<void> {
  for (;;) {
    const messages = await telegram({ do: 'transcript', chat }, transcript);
    if (messages.filter(({ bot, text }) => bot && text.includes('The command said')).length >= times) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
