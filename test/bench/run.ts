import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { combine, type Figures, judge, readBudgets, table } from './figures.ts';
import { measureBusy } from './measures/busy.ts';
import { measureJudge } from './measures/judge.ts';
import { measureLoad } from './measures/load.ts';
import { measurePress } from './measures/press.ts';
import { measureRecovery } from './measures/recovery.ts';
import { measureSize } from './measures/size.ts';
import { measureStart, measureStartAll } from './measures/start.ts';
import { measureTurn } from './measures/turn.ts';

/**
 * `npm run bench`: what docs/benchmarks.md promises, measured from outside on the gateway as a child process.
 * Prints a table and then one line of JSON; ends with 1 when a budget is missed. `--only turn,load` measures these.
 */
const measures: { readonly [name: string]: { rounds: number; measure(): Promise<Figures> } } = {
  start: { rounds: 1, measure: measureStart },
  'start-all': { rounds: 1, measure: measureStartAll },
  turn: { rounds: 3, measure: measureTurn },
  press: { rounds: 1, measure: measurePress },
  busy: { rounds: 3, measure: measureBusy },
  load: { rounds: 3, measure: measureLoad },
  recovery: { rounds: 3, measure: measureRecovery },
  judge: { rounds: 3, measure: measureJudge },
  size: { rounds: 1, measure: measureSize },
};

const { values } = parseArgs({ options: { only: { type: 'string' } } });
const asked = values.only?.split(',') ?? Object.keys(measures);
const budgets = readBudgets(readFileSync(new URL('budgets.json', import.meta.url), 'utf8'));

let figures: Figures = {};
for (const name of asked) {
  const chosen = measures[name];
  if (chosen === undefined)
    throw new Error(`no measure "${name}"; there are: ${Object.keys(measures).join(', ')}`);
  const rounds: Figures[] = [];
  for (let round = 1; round <= chosen.rounds; round += 1) {
    process.stderr.write(`measuring ${name}, ${round} of ${chosen.rounds} …\n`);
    rounds.push(await chosen.measure());
  }
  figures = { ...figures, ...combine(rounds, budgets) };
}
const judged = judge(figures, budgets);
process.stdout.write(`${table(judged)}\n${JSON.stringify(figures)}\n`);
process.exit(judged.every(({ held }) => held) ? 0 : 1);
