import { z } from 'zod';

/** What was measured, by the names of budgets.json. */
export type Figures = Readonly<Record<string, number>>;

const budgetsSchema = z.record(
  z.string(),
  z.object({ max: z.number().optional(), min: z.number().optional(), unit: z.string() }),
);
export type Budgets = z.infer<typeof budgetsSchema>;

export interface Judged {
  name: string;
  measured: number;
  unit: string;
  budget: string;
  held: boolean;
}

export function readBudgets(json: string): Budgets {
  return budgetsSchema.parse(JSON.parse(json));
}

/** A figure without a budget is a mistake in the names. */
export function judge(figures: Figures, budgets: Budgets): Judged[] {
  return Object.entries(figures).map(([name, measured]) => {
    const budget = budgets[name];
    if (budget === undefined) throw new Error(`budgets.json has no budget "${name}".`);
    const { max, min, unit } = budget;
    const held = (max === undefined || measured <= max) && (min === undefined || measured >= min);
    const bounds = [max !== undefined && `≤ ${max}`, min !== undefined && `≥ ${min}`].filter(Boolean);
    return { name, measured: round(measured), unit, budget: bounds.join(', '), held };
  });
}

/** One figure of several rounds: the median, since the machine is noisy; the worst of what may never happen. */
export function combine(rounds: readonly Figures[], budgets: Budgets): Figures {
  const names = Object.keys(rounds[0] ?? {});
  return Object.fromEntries(
    names.map((name) => {
      const values = rounds.map((round) => round[name] ?? Number.NaN);
      return [name, budgets[name]?.max === 0 ? Math.max(...values) : median(values)];
    }),
  );
}

export function table(rows: readonly Judged[]): string {
  const lines = rows.map(({ name, measured, unit, budget, held }) =>
    [held ? 'ok  ' : 'MISS', name.padEnd(24), `${measured}`.padStart(9), unit.padEnd(8), `(${budget})`].join(
      ' ',
    ),
  );
  return lines.join('\n');
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** The value below which the share `q` of the values lies; NaN of none. */
export function quantile(values: readonly number[], q: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? Number.NaN;
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
