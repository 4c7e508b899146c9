/**
 * For reads that cost the service much, or come all the time: one is under way at most.
 * @param ms from the beginning of one read to that of the next, unless it takes longer
 * @param over no read begins after this was given
 * @returns asks for a read: at once, or when the one before is answered and its time has passed. However often it is
 * asked for until then, that is one more read
 */
export function oneByOne(read: () => Promise<unknown>, ms: number, over: AbortSignal): () => void {
  let isBusy = false;
  let isWanted = false;

  async function work(): Promise<void> {
    isBusy = true;
    while (isWanted && !over.aborted) {
      isWanted = false;
      const began = performance.now();
      await read().catch((error) => reportError(error));
      const rest = began + ms - performance.now();
      if (rest > 0) await new Promise((resolve) => setTimeout(resolve, rest));
    }
    isBusy = false;
  }

  return () => {
    isWanted = true;
    if (!isBusy) void work();
  };
}
