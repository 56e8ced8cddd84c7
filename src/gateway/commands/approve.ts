import type { Choice } from '../../store/approvals.ts';
import type { Command } from './command.ts';

const scopes: ReadonlySet<string> = new Set(['session', 'always']);

/** `/approve`: the oldest request, once. `/approve session|always`: its scope. `/approve all`: every one. */
export const approve: Command = {
  name: 'approve',
  whileBusy: true,
  async run({ args, session, by, messages, ports, handled, reply }) {
    const { store, decisions } = ports;
    const words = args.toLowerCase().split(/\s+/);
    const choice: Choice = words.includes('always')
      ? 'always'
      : words.includes('session')
        ? 'session'
        : 'once';
    const pending = (await store.read.approvals.pending(session.key)).filter(
      (row) => row.ask.kind === 'approval',
    );
    const chosen = words.includes('all') ? pending : pending.slice(0, 1);
    let decided = 0;
    let isHandled = false;
    for (const row of chosen) {
      const isLast = row === chosen.at(-1);
      const outcome = await decisions.decide(row.id, choice, by, undefined, isLast ? handled : undefined);
      if (outcome.kind === 'decided') decided += 1;
      isHandled = isLast && outcome.kind === 'decided';
      if (outcome.kind === 'not_yours') return reply(messages.press.notYours(outcome.row.askerName));
      if (outcome.kind === 'not_offered') return reply(messages.press.notOffered);
    }
    const unknownWord = words.some(
      (word) => word !== '' && word !== 'all' && !scopes.has(word) && word !== 'once',
    );
    if (decided === 0) return reply(messages.commands.nothingPending);
    // The card itself says what happened; words only where there are several, or where some were not understood.
    if (decided > 1 || unknownWord || !isHandled) await reply(messages.commands.approvedCount(decided));
  },
};
