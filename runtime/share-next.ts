import { BusyError } from './actor/index.ts';
import { atMost, type Clock, type Micros } from './clock.ts';

/** How long a run may take before another one begins beside it. */
export interface Patience {
  readonly clock: Clock;
  readonly longest: Micros;
}

/** Overdue runs at a time: when none of them is answered, another would not be either. */
const MOST_LEFT = 3;

/**
 * Coalesces calls: all calls during one run share the next run, so every caller gets the result of a run that began
 * after its call.
 * @param patience when a run takes longer, the next one begins beside it, and the callers of the first get whichever
 *   result comes first. The work must tolerate that an older run ends after a newer one. Without `patience` runs never
 *   overlap
 */
export function shareNext(work: () => Promise<void>, patience?: Patience): () => Promise<void> {
  let running: Promise<void> | null = null;
  let next: Promise<void> | null = null;
  let left = 0;

  /** Resolves with whether the run has ended in time. */
  const ended = async (own: Promise<void>): Promise<boolean> => {
    let isOver = false;
    // The caller gets the error; here only the end counts.
    const end = own
      .catch(() => undefined)
      .then(() => {
        isOver = true;
      });
    if (patience === undefined || left === MOST_LEFT) await end;
    else await atMost(patience.clock, patience.longest, end);
    if (isOver) return true;
    left++;
    void end.then(() => left--);
    return false;
  };

  const run = (): Promise<void> => {
    next = null;
    const own = work();
    const gate = ended(own);
    const present = gate.then(() => {
      if (running === present) running = null;
    });
    running = present;
    return gate.then((isOver) => (isOver ? own : firstOf(own, call())));
  };

  const call = (): Promise<void> => {
    if (next) return next;
    if (!running) return run();
    next = running.then(run);
    return next;
  };

  return call;
}

/** The result of the older run if it succeeds first, otherwise that of the later one. */
function firstOf(older: Promise<void>, later: Promise<void>): Promise<void> {
  return Promise.race([older.catch(() => later), later]);
}

/** Runs a function, now or when its turn comes. @throws {BusyError} too many wait already */
export type InTurn = <Result>(run: () => Promise<Result>) => Promise<Result>;

/**
 * A queue that runs functions one at a time, in the order of the calls.
 * @param what names them in the error
 * @param most how many may wait besides the running one
 */
export function createTurns(what: string, most: number): InTurn {
  let last: Promise<unknown> = Promise.resolve();
  let asked = 0;
  return async (run) => {
    if (asked > most) throw new BusyError(`too many ${what} wait`);
    asked++;
    const result = last.then(run);
    // The caller gets the error; the next function only waits for the end.
    last = result.catch(() => undefined);
    try {
      return await result;
    } finally {
      asked--;
    }
  };
}
