import { BusyError } from './actor/index.ts';

/** Runs what it is given, now or when its turn comes. @throws {BusyError} too much waits already */
export type InTurn = <Result>(run: () => Promise<Result>) => Promise<Result>;

/**
 * Runs what it is given one at a time, in the order in which it was asked for.
 * @param what is named to who is refused
 * @param most may wait besides the one that runs
 */
export function createTurns(what: string, most: number): InTurn {
  let last: Promise<unknown> = Promise.resolve();
  let asked = 0;
  return async (run) => {
    if (asked > most) throw new BusyError(`too many ${what} wait`);
    asked++;
    const result = last.then(run);
    // How it ends is told to whoever asked for it; the next one only waits for the end.
    last = result.catch(() => undefined);
    try {
      return await result;
    } finally {
      asked--;
    }
  };
}
