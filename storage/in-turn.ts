/** Runs what it is given one at a time, in the order in which it was asked for. */
export function createTurns(): <Result>(run: () => Promise<Result>) => Promise<Result> {
  let last: Promise<unknown> = Promise.resolve();
  return (run) => {
    const result = last.then(run);
    // How it ends is told to whoever asked for it; the next one only waits for the end.
    last = result.catch(() => undefined);
    return result;
  };
}
