import type { Command } from './command.ts';

/** `/deny`: the oldest request. `/deny all`: every one. `/deny REASON`: the model reads the reason. */
export const deny: Command = {
  name: 'deny',
  whileBusy: true,
  async run({ args, session, by, messages, ports, handled, reply }) {
    const { store, decisions } = ports;
    const all = args.toLowerCase() === 'all';
    const pending = (await store.read.approvals.pending(session.key)).filter(
      (row) => row.ask.kind === 'approval',
    );
    const chosen = all ? pending : pending.slice(0, 1);
    let decided = 0;
    let isHandled = false;
    for (const row of chosen) {
      const isLast = row === chosen.at(-1);
      const reason = all || args === '' ? undefined : args;
      const outcome = await decisions.decide(row.id, 'deny', by, reason, isLast ? handled : undefined);
      if (outcome.kind === 'decided') decided += 1;
      isHandled = isLast && outcome.kind === 'decided';
      if (outcome.kind === 'not_yours') return reply(messages.press.notYours(outcome.row.askerName));
    }
    if (decided === 0) return reply(messages.commands.nothingPending);
    if (decided > 1 || !isHandled) await reply(messages.commands.deniedCount(decided));
  },
};
