import { z } from 'zod';

/** What a button carries in its `value`: Slack gives back nothing else that we chose freely. */
export interface ButtonValue {
  id: string;
  label: string;
  /** Label of the text field to ask for before the press is reported. */
  ask?: string | undefined;
}

const shape = z.object({ id: z.string().min(1), label: z.string().min(1), ask: z.string().optional() });

export function writeButtonValue(value: ButtonValue): string {
  return JSON.stringify(value);
}

/** Undefined for a value that is not one of ours. */
export function readButtonValue(value: string | undefined): ButtonValue | undefined {
  if (value === undefined) return undefined;
  try {
    return shape.safeParse(JSON.parse(value)).data;
  } catch {
    return undefined;
  }
}
