import { confirm, multiselect, password, select, spinner, text } from '@clack/prompts';
import { GatewayError } from '../errors.ts';
import { explain } from './exit.ts';

/** Questions at the terminal. Each rejects with `cancelled` on Escape or Ctrl-C. */

/** `refusal` tells what is wrong with an answer; it is asked again then. */
export async function askText(
  message: string,
  initialValue = '',
  placeholder = '',
  refusal: (value: string) => string | undefined = () => undefined,
): Promise<string> {
  const validate = (value: string | undefined) => refusal((value ?? '').trim());
  return (answered(await text({ message, initialValue, placeholder, validate })) ?? '').trim();
}

export async function askOne<Value extends string>(
  message: string,
  options: readonly { value: Value; label: string; hint?: string }[],
  initialValue: Value,
): Promise<Value> {
  const names: { value: string; label: string; hint?: string }[] = [...options];
  const chosen = answered(await select<string>({ message, options: names, initialValue }));
  return options.find(({ value }) => value === chosen)?.value ?? initialValue;
}

export async function askSome<Value extends string>(
  message: string,
  options: readonly { value: Value; label: string }[],
  initialValues: readonly Value[],
): Promise<Value[]> {
  const names: { value: string; label: string }[] = [...options];
  const chosen = answered(
    await multiselect<string>({
      message,
      options: names,
      initialValues: [...initialValues],
      required: false,
    }),
  );
  return options.map(({ value }) => value).filter((value) => chosen.includes(value));
}

/**
 * Asks for a key until its check holds, or its owner wants it all the same. Null keeps what is set now.
 */
export async function askSecret(
  message: string,
  isSet: boolean,
  check: (value: string) => Promise<string>,
): Promise<string | null> {
  for (;;) {
    const shown = isSet ? `${message} (Enter keeps the present one)` : message;
    const value = (answered(await password({ message: shown })) ?? '').trim();
    if (value === '') return null;
    if (await holds(value, check)) return value;
    if (answered(await confirm({ message: 'Keep it all the same?', initialValue: false }))) return value;
  }
}

async function holds(value: string, check: (value: string) => Promise<string>): Promise<boolean> {
  const progress = spinner();
  progress.start('Checking');
  try {
    progress.stop(await check(value));
    return true;
  } catch (error) {
    progress.error(explain(error));
    return false;
  }
}

function answered<Value>(value: Value): Exclude<Value, symbol> {
  if (isAnswer(value)) return value;
  throw new GatewayError('cancelled', 'Setup was left; nothing was changed.');
}

/** The prompts answer with a symbol of theirs when they were left. */
function isAnswer<Value>(value: Value): value is Exclude<Value, symbol> {
  return typeof value !== 'symbol';
}
