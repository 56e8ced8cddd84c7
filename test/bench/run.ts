import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { type Figures, judge, readBudgets, table } from './figures.ts';
import { measureJudge } from './measures/judge.ts';
import { measureLoad } from './measures/load.ts';
import { measurePress } from './measures/press.ts';
import { measureSize } from './measures/size.ts';
import { measureStart } from './measures/start.ts';
import { measureTurn } from './measures/turn.ts';

/**
 * `npm run bench`: what docs/benchmarks.md promises, measured from outside on the gateway as a child process.
 * Prints a table and then one line of JSON; ends with 1 when a budget is missed. `--only turn,load` measures these.
 */
const measures: { readonly [name: string]: () => Promise<Figures> } = {
  start: measureStart,
  turn: measureTurn,
  press: measurePress,
  load: measureLoad,
  judge: measureJudge,
  size: measureSize,
};

const { values } = parseArgs({ options: { only: { type: 'string' } } });
const asked = values.only?.split(',') ?? Object.keys(measures);
const budgets = readBudgets(readFileSync(new URL('budgets.json', import.meta.url), 'utf8'));

let figures: Figures = {};
for (const name of asked) {
  const measure = measures[name];
  if (measure === undefined)
    throw new Error(`no measure "${name}"; there are: ${Object.keys(measures).join(', ')}`);
  process.stderr.write(`measuring ${name} …\n`);
  figures = { ...figures, ...(await measure()) };
}
const judged = judge(figures, budgets);
process.stdout.write(`${table(judged)}\n${JSON.stringify(figures)}\n`);
process.exit(judged.every(({ held }) => held) ? 0 : 1);
