import { startPlayground } from './playground.ts';

/** `npm run playground [-- PORT]`: the bot on three emulated platforms, with no account, no key and no network. */
const playground = await startPlayground(Number(process.argv[2] ?? 0));
process.stdout.write(`\n  Playground:  ${playground.url}\n\n  Ctrl-C stops everything.\n\n`);

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    playground.stop().then(
      () => process.exit(0),
      (error: unknown) => {
        console.error(error);
        process.exit(1);
      },
    );
  });
}
