/** Runs tasks of one key one after another and tasks of different keys side by side. */
export type InTurn = <Result>(key: string, task: () => Promise<Result>) => Promise<Result>;

export function createInTurn(): InTurn {
  const tails = new Map<string, Promise<unknown>>();
  return (key, task) => {
    const before = tails.get(key) ?? Promise.resolve();
    // A failed task is its own caller's concern and must not stop the next.
    const mine = before.then(task, task);
    tails.set(key, mine);
    const tidy = () => {
      if (tails.get(key) === mine) tails.delete(key);
    };
    mine.then(tidy, tidy);
    return mine;
  };
}
