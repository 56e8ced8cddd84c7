import type { ButtonStyle, CardButton } from '../platform.ts';
import { writeCustomId } from './custom-id.ts';
import { cutTo } from './plain-escape.ts';

type Component = Record<string, unknown>;

/** discord.com/developers/docs/components/reference */
const kind = { row: 1, button: 2, select: 3 } as const;
const limit = { inRow: 5, rows: 5, options: 25, buttonLabel: 80, optionLabel: 100 } as const;
const styles: Readonly<Record<ButtonStyle, number>> = { primary: 1, neutral: 2, success: 3, danger: 4 };

/** Rows of buttons; past what fits as buttons, lists to choose from. */
export function renderButtons(rows: readonly (readonly CardButton[])[]): Component[] {
  const fitting = rows.filter((row) => row.length > 0).flatMap((row) => chunks(row, limit.inRow));
  if (fitting.length <= limit.rows) return fitting.map((row) => actionRow(row.map(button)));
  const all = rows.flat();
  if (all.length <= limit.rows * limit.inRow)
    return chunks(all, limit.inRow).map((row) => actionRow(row.map(button)));
  return chunks(all, limit.options)
    .slice(0, limit.rows)
    .map((part, at) => actionRow([select(part, at)]));
}

const actionRow = (components: Component[]): Component => ({ type: kind.row, components });

const targetOf = ({ id, askInput }: CardButton): string =>
  writeCustomId(askInput === undefined ? { kind: 'press', id } : { kind: 'form', id, label: askInput });

function button(given: CardButton): Component {
  const { label, style } = given;
  return {
    type: kind.button,
    style: styles[style],
    label: cutTo(label, limit.buttonLabel),
    custom_id: targetOf(given),
  };
}

function select(buttons: readonly CardButton[], at: number): Component {
  const options = buttons.map((given) => ({
    label: cutTo(given.label, limit.optionLabel),
    value: targetOf(given),
  }));
  return { type: kind.select, custom_id: `list|${at}`, placeholder: '…', options };
}

function chunks<Item>(items: readonly Item[], size: number): Item[][] {
  const parts: Item[][] = [];
  for (let at = 0; at < items.length; at += size) parts.push(items.slice(at, at + size));
  return parts;
}
